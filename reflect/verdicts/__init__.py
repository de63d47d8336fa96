"""What a newer fact says about an older opinion or fact: labelled here, computed with elsewhere."""
