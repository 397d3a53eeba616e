//! Who may use how much: guaranteed and maximum cores of each tenant, from a file that people write.

use crate::error::{Error, Result};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The name that stands for every tenant without an entry of its own.
pub const OTHERS: &str = "*";

/// What a tenant is promised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tenant {
    /// Cores that its applications get before anybody gains from them elsewhere, as far as they can use them.
    pub guaranteed: u32,
    /// Cores that its applications get at most, all together.
    pub maximum: u32,
    /// Weight of each of its applications, 0.001 to 1000.
    pub weight: f64,
}

impl Default for Tenant {
    fn default() -> Self {
        Tenant { guaranteed: 0, maximum: u32::MAX, weight: 1.0 }
    }
}

/// All tenants by name; whoever is not named has the entry `*`, or no promise and no limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tenants {
    named: BTreeMap<String, Tenant>,
}

impl Tenants {
    /// Reads `{"ann": {"guaranteed": 4, "maximum": 8, "weight": 2}, "*": {"maximum": 16}}`; every key may be left out.
    ///
    /// # Errors
    /// [`Error::Config`], naming key, value and what is allowed, for anything else, for a maximum below what is
    /// guaranteed, and for more guaranteed cores than `cores`.
    pub fn from_json(text: &str, cores: u32) -> Result<Tenants> {
        let value: Value = serde_json::from_str(text).map_err(|e| Error::config("tenants", e, "a JSON object"))?;
        let map = value.as_object().ok_or_else(|| Error::config("tenants", text, "a JSON object"))?;
        let named = map.iter().map(|(name, entry)| Ok((name.clone(), tenant(name, entry)?))).collect::<Result<_>>()?;
        let tenants = Tenants { named };
        let promised = tenants.guaranteed();
        if promised > u64::from(cores) {
            return Err(Error::config(
                "tenants: sum of guaranteed",
                promised,
                format!("at most the {cores} cores of the cluster"),
            ));
        }
        Ok(tenants)
    }

    /// The entry of a tenant.
    pub fn get(&self, name: &str) -> Tenant {
        self.named.get(name).or_else(|| self.named.get(OTHERS)).copied().unwrap_or_default()
    }

    /// Names with an entry of their own.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.named.keys().map(String::as_str).filter(|name| *name != OTHERS)
    }

    /// Cores promised to the named ones.
    fn guaranteed(&self) -> u64 {
        self.names().map(|name| u64::from(self.get(name).guaranteed)).sum()
    }
}

fn tenant(name: &str, entry: &Value) -> Result<Tenant> {
    let fields: &Map<String, Value> = entry
        .as_object()
        .ok_or_else(|| Error::config(&format!("tenants: {name}"), entry, "an object of guaranteed, maximum, weight"))?;
    let mut tenant = Tenant::default();
    for (key, value) in fields {
        let path = format!("tenants: {name}: {key}");
        let whole = || {
            value
                .as_u64()
                .and_then(|v| u32::try_from(v).ok())
                .ok_or_else(|| Error::config(&path, value, "a whole number of cores"))
        };
        match key.as_str() {
            "guaranteed" => tenant.guaranteed = whole()?,
            "maximum" => tenant.maximum = whole()?,
            "weight" => {
                tenant.weight = value
                    .as_f64()
                    .filter(|w| (1e-3..=1e3).contains(w))
                    .ok_or_else(|| Error::config(&path, value, "a number from 0.001 to 1000"))?;
            }
            _ => return Err(Error::config(&path, value, "one of guaranteed, maximum, weight")),
        }
    }
    if name == OTHERS && tenant.guaranteed > 0 {
        return Err(Error::config(
            "tenants: *: guaranteed",
            tenant.guaranteed,
            "0: only a named tenant can be promised cores",
        ));
    }
    if tenant.maximum < tenant.guaranteed {
        return Err(Error::config(
            &format!("tenants: {name}: maximum"),
            tenant.maximum,
            format!("at least what is guaranteed, {}", tenant.guaranteed),
        ));
    }
    Ok(tenant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_and_the_star_stands_for_the_rest() {
        let text = r#"{"ann": {"guaranteed": 4, "maximum": 8, "weight": 2}, "bob": {}, "*": {"maximum": 3}}"#;
        let tenants = Tenants::from_json(text, 8).unwrap();
        assert_eq!(tenants.get("ann"), Tenant { guaranteed: 4, maximum: 8, weight: 2.0 });
        assert_eq!(tenants.get("bob"), Tenant::default());
        assert_eq!(tenants.get("cyd").maximum, 3);
        assert_eq!(tenants.names().collect::<Vec<_>>(), ["ann", "bob"]);
        assert_eq!(Tenants::default().get("ann"), Tenant::default());
    }

    #[test]
    fn mistakes_name_key_value_and_what_is_allowed() {
        for (text, key, value, allowed) in [
            ("nonsense", "tenants", "expected", "JSON object"),
            (r#"{"ann": 4}"#, "tenants: ann", "4", "guaranteed, maximum, weight"),
            (r#"{"ann": {"cores": 4}}"#, "tenants: ann: cores", "4", "guaranteed, maximum, weight"),
            (r#"{"ann": {"guaranteed": 1.5}}"#, "tenants: ann: guaranteed", "1.5", "whole number"),
            (r#"{"ann": {"weight": 0}}"#, "tenants: ann: weight", "0", "0.001 to 1000"),
            (
                r#"{"ann": {"guaranteed": 4, "maximum": 2}}"#,
                "tenants: ann: maximum",
                "2",
                "at least what is guaranteed, 4",
            ),
            (r#"{"ann": {"guaranteed": 5}, "bob": {"guaranteed": 4}}"#, "sum of guaranteed", "9", "8 cores"),
            (r#"{"*": {"guaranteed": 1}}"#, "tenants: *: guaranteed", "1", "only a named tenant"),
        ] {
            let message = Tenants::from_json(text, 8).unwrap_err().to_string();
            for part in [key, value, allowed] {
                assert!(message.contains(part), "{message} lacks {part}");
            }
        }
    }
}
