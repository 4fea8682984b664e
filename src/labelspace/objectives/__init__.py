"""What training pulls together and pushes apart: losses with their gradients."""
