//! What several tests share: seeded random values and small models.
