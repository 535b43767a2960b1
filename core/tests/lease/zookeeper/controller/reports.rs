//! By hand: what was reported of Kafka's controller, and its rules one by one.
