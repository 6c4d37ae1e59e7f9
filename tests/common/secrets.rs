//! Secrets that nobody has: made from a seed, in the shapes that services give theirs.

/// Numbers that look as if there were no order in them.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn word(&mut self, letters: &str, length: usize) -> String {
        let letters: Vec<char> = letters.chars().collect();
        let mut pick = || letters[usize::try_from(self.next() % letters.len() as u64).expect("small")];
        (0..length).map(|_| pick()).collect()
    }
}

const LETTERS: &str = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const SMALL: &str = "abcdefghijkmnpqrstuvwxyz";

/// Values that only their place gives away: passwords of people and of machines.
pub(crate) fn plain() -> Vec<String> {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut all = Vec::new();
    for _ in 0..20 {
        all.push(dice.word(SMALL, 9));
        all.push(format!("{}{}", dice.word(SMALL, 6), dice.word("23456789", 2)));
        all.push(dice.word(LETTERS, 24));
        all.push(format!("{}-{}_{}", dice.word(LETTERS, 5), dice.word(LETTERS, 6), dice.word(LETTERS, 4)));
    }
    all
}

/// Values with a form of their own.
pub(crate) fn shaped() -> Vec<String> {
    let mut dice = Dice(0x1234_5678_9abc_def1);
    let mut all = Vec::new();
    for (head, length) in [
        ("ghp_", 36),
        ("gho_", 36),
        ("github_pat_", 60),
        ("glpat-", 20),
        ("sk-", 48),
        ("sk_live_", 24),
        ("rk_live_", 24),
        ("xoxb-", 40),
        ("xoxp-", 40),
        ("AIza", 35),
        ("ya29.", 60),
        ("npm_", 36),
        ("pypi-", 60),
        ("hf_", 34),
        ("SG.", 50),
        ("dop_v1_", 64),
        ("shpat_", 32),
        ("hvs.", 40),
        ("figd_", 40),
        ("whsec_", 32),
        ("gsk_", 40),
        ("dckr_pat_", 27),
        ("tskey-", 30),
        ("GOCSPX-", 28),
        ("AGE-SECRET-KEY-1", 58),
        ("ghs_", 36),
        ("ghu_", 36),
        ("ghr_", 36),
        ("gldt-", 20),
        ("glsoat-", 20),
        ("sk-ant-api03-", 80),
        ("sk-proj-", 60),
        ("sk-or-v1-", 64),
        ("xai-", 60),
        ("pplx-", 48),
        ("r8_", 37),
        ("nvapi-", 64),
        ("tvly-", 32),
        ("lsv2_pt_", 40),
        ("xoxs-", 40),
        ("xapp-", 60),
        ("sq0atp-", 22),
        ("sq0csp-", 43),
        ("shpca_", 32),
        ("shpss_", 32),
        ("PMAK-", 59),
        ("NRAK-", 27),
        ("lin_api_", 40),
        ("ntn_", 46),
        ("rubygems_", 48),
        ("nfp_", 40),
        ("sbp_", 40),
        ("sb_secret_", 36),
        ("pscale_tkn_", 43),
        ("dp.pt.", 43),
        ("sntrys_", 60),
        ("glsa_", 41),
        ("xkeysib-", 80),
        ("CFPAT-", 43),
        ("dapi", 34),
        ("doo_v1_", 64),
        ("hvb.", 40),
        ("pul-", 40),
        ("ATATT3x", 60),
        ("ATBB", 32),
        ("ops_", 60),
    ] {
        // A digit is in every real one.
        all.push(format!("{head}{}7", dice.word(LETTERS, length - 1)));
        all.push(format!("{head}9{}", dice.word(LETTERS, length - 1)));
    }
    let capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    all.push(format!("ASIA{}", dice.word(capitals, 15) + "7"));
    let digits = dice.word("123456789", 9);
    all.push(format!("{digits}:AA{}", dice.word(LETTERS, 33)));
    all.push(format!("AKIA{}", dice.word("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 15) + "7"));
    let part = |dice: &mut Dice| dice.word(LETTERS, 30);
    all.push(format!("eyJ{}.{}.{}", part(&mut dice), part(&mut dice), part(&mut dice)));
    all
}

/// Commands that give a plain secret away by the place it has, `@` for the secret.
pub(crate) const FORMS: &[&str] = &[
    "TOKEN=@ frob",
    "export GITHUB_TOKEN='@'",
    "export DB_PASSWORD=\"@\"; frob",
    "env API_KEY=@ ls",
    "curl -H \"Authorization: Bearer @\" https://example.com",
    "curl -H 'Authorization: Basic @' https://example.com",
    "curl -H 'authorization: token @' https://example.com",
    "curl -H 'Authorization: @' https://example.com",
    "curl --header \"X-Api-Key: @\" https://example.com",
    "curl -H 'PRIVATE-TOKEN: @' https://example.com",
    "curl -H 'Cookie: session=1; sid=@' https://example.com",
    "curl -u user:@ https://example.com",
    "curl --user 'user:@' https://example.com",
    "curl https://user:@@example.com/x",
    "git clone https://oauth2:@@example.com/x.git",
    "curl 'https://example.com/x?access_token=@&page=2'",
    "curl -d 'grant_type=password&password=@' https://example.com",
    "curl -d '{\"user\":\"u\",\"password\":\"@\"}' https://example.com",
    "curl -d \"{\\\"client_secret\\\": \\\"@\\\"}\" https://example.com",
    "mysql -u root -p@ -e 'select 1'",
    "mysqldump --password=@ db",
    "PGPASSWORD=@ psql -h db",
    "psql 'postgresql://u:@@db/x'",
    "psql \"host=db password=@ user=u\"",
    "redis-cli -a @ ping",
    "sshpass -p @ ssh host ls",
    "sshpass -p'@' ssh host ls",
    "docker login -u u -p @ registry.example.com",
    "echo @ | docker login -u u --password-stdin",
    "printf '%s' '@' | sudo -S ls",
    "echo 'user:@' | chpasswd",
    "frob login --password @",
    "frob --token=@ list",
    "frob --api-key '@' list",
    "frob --client-secret \"@\" list",
    "mytool config set telegram.token=@",
    "openssl enc -aes-256-cbc -pass pass:@ -in a -out b",
    "htpasswd -b file user @",
    "bash -c 'export SECRET=@; frob'",
    "ssh host \"TOKEN=@ frob\"",
    "docker run -e MYSQL_ROOT_PASSWORD=@ mysql",
    "docker run -e \"POSTGRES_PASSWORD=@\" postgres",
    "kubectl create secret generic x --from-literal=value=@",
    "kubectl create secret generic x --from-literal value=@",
    "gh secret set NAME --body @",
    "gh secret set NAME -b'@'",
    "ldapsearch -x -D cn=a -w @ -b dc=x",
    "smbclient //h/s -U 'user%@'",
    "unzip -P @ a.zip",
    "7z x -p@ a.7z",
    "aws secretsmanager create-secret --name n --secret-string @",
    "az login -u u -p @",
    "mysql -e \"CREATE USER u IDENTIFIED BY '@'\"",
    "python3 -c 'password = \"@\"; print(1)'",
    "node -e 'const token = \"@\"'",
    "ansible-playbook x.yml -e ansible_become_pass=@",
    "terraform apply -var db_password=@",
    "helm install x y --set auth.password=@",
    "git config --global github.token=@",
    "echo \"${TOKEN:-@}\"",
    "wget --http-password=@ https://example.com",
    "mosquitto_pub -u u -P @ -t t -m m",
    "vault kv put secret/x password=@",
    "keytool -list -storepass @ -keystore k",
    "lftp -u user,@ ftp.example.com",
    "ssh-keygen -t ed25519 -N @ -f k",
    "docker login -u u --password-stdin <<< @",
    "PASS\"WORD\"=@ frob --password \"@\"",
    "for i in 1 2; do SECRET_KEY=@ frob; done",
    "cat > .env <<'EOF'\nWORD @\nEOF\n",
];

/// Commands that hold a secret with a form of its own anywhere.
pub(crate) const PLACES: &[&str] = &[
    "echo @",
    "frob @",
    "frob --x=@",
    "curl https://example.com/@/x",
    "git commit -m 'use @ here'",
    "cat > f <<EOF\n@\nEOF",
    "python3 -c 'f(\"@\")'",
    "grep -r '@' .",
    "some-tool set x @",
    "ls /tmp/@",
];
