"""Messages about wins, presence and decisions: what tables and the House send, and what they get."""
