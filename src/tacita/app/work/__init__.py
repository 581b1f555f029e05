"""What the screens show and change: cases, runs, views. No page is known here."""
