//! Names of secrets: flags and variables whose values are not shown.

/// Parts of names that suggest a secret.
const SECRET: [&str; 8] = ["auth", "cred", "header", "key", "passphrase", "password", "secret", "token"];

/// Whether a flag or a variable of that name is likely to hold a secret.
pub fn tells_of_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_name_in_any_case_suffices() {
        for name in ["GITHUB_TOKEN", "--api-key", "dbPassword", "X_AUTH"] {
            assert!(tells_of_secret(name), "{name}");
        }
        for name in ["REGION", "--port", "BASE_URL"] {
            assert!(!tells_of_secret(name), "{name}");
        }
    }
}
