"""Facts into regenerated pages and evolved confidence: the nightly job."""
