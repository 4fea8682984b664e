"""Label trees and label embeddings: labels found by a walk, or in a small space."""
