"""The HTTP server: an API for programs, a page for people, and the map of the labels.

Everything here needs the extra ``serve`` (FastAPI, uvicorn and prometheus-client), so nothing else
in labelspace imports it before ``labelspace serve`` is asked for.
"""
