"""Parts of pages that several screens have."""
