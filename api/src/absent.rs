//! Objects without a `spec`: the schema accepts them, so a list that holds one must decode.

/// Lets a spec that is absent or `null` decode as the empty one.
///
/// The type derives serde's traits with `remote = "Self"`, which makes inherent functions; the
/// trait goes through `Option`, the only form that serde asks about a field that isn't there.
macro_rules! empty_when_absent {
    ($spec:ty) => {
        impl serde::Serialize for $spec {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $spec {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Absent;

                impl<'de> serde::de::Visitor<'de> for Absent {
                    type Value = $spec;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_none<E>(self) -> Result<$spec, E> {
                        Ok(<$spec>::default())
                    }

                    fn visit_unit<E>(self) -> Result<$spec, E> {
                        Ok(<$spec>::default())
                    }

                    fn visit_some<D: serde::Deserializer<'de>>(
                        self,
                        deserializer: D,
                    ) -> Result<$spec, D::Error> {
                        <$spec>::deserialize(deserializer)
                    }
                }

                deserializer.deserialize_option(Absent)
            }
        }
    };
}
