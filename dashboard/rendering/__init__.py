"""How an app looks: cards, favicons, screenshots, and the icons of bookmarks."""
