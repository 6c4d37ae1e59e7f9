#!/bin/bash
# Daemons that start a login shell, each for this script alone: it is the first process of namespaces of its
# own (mounts, processes, network), so that whatever it starts ends with it, and what it mounts is its own.
# In: PLACE, which servers.rs has prepared, and the calls to make (ssh, su, cron). Out: in PLACE/work, by name, .out, .err and .status of each call.
place=$1
shell=$place/bin/gsh
work=$place/work
set -e
mount --make-rprivate /
for folder in /run /var/log /var/spool/cron; do mount -t tmpfs none "$folder"; done
mkdir -p /run/sshd /run/user/0 /run/lock /var/spool/cron/crontabs
chmod 700 /run/user/0
: >/var/log/lastlog
# Only the superuser, with this home and shell.
echo "root:x:0:0:root:$place/home:$shell" >"$place/kept/passwd"
echo "sshd:x:105:65534::/run/sshd:/usr/sbin/nologin" >>"$place/kept/passwd"
echo 'root:*:19000:0:99999:7:::' >"$place/kept/shadow"
: >"$place/kept/empty"
mount --bind "$place/kept/passwd" /etc/passwd
mount --bind "$place/kept/shadow" /etc/shadow
[ ! -e /etc/crontab ] || mount --bind "$place/kept/empty" /etc/crontab
[ ! -d /etc/cron.d ] || mount -t tmpfs none /etc/cron.d
[ ! -e /etc/environment ] || mount --bind "$place/kept/empty" /etc/environment
ip link set lo up
set +e

# NAME COMMAND…: the call and all that can be seen of it.
seen() {
  local name=$1
  shift
  timeout -k 2 30 "$@" >"$work/$name.out" 2>"$work/$name.err"
  echo $? >"$work/$name.status"
}

ssh_calls() {
  /usr/sbin/sshd -D -e -f "$place/kept/sshd_config" 2>"$place/sshd.log" &
  daemon=$!
  for _ in $(seq 100); do
    ssh -F "$place/kept/ssh_config" ready >/dev/null 2>&1 </dev/null && break
    sleep 0.05
  done
  local number=0 text
  while IFS= read -r text <&3; do
    number=$((number + 1))
    seen "ssh-$number" ssh -F "$place/kept/ssh_config" plain "$text" </dev/null
    seen "ssh-t-$number" ssh -F "$place/kept/ssh_config" -tt plain "$text" </dev/null
    seen "ssh-stdin-$number" ssh -F "$place/kept/ssh_config" plain <<<"$text"
  done 3<"$place/kept/texts"
  seen forced ssh -F "$place/kept/ssh_config" forced 'anything else' </dev/null
  seen forced-t ssh -F "$place/kept/ssh_config" -tt forced 'anything else' </dev/null
  seen cat ssh -F "$place/kept/ssh_config" plain cat <<<'through it'
  seen scp scp -q -F "$place/kept/ssh_config" plain:"$work/made-before" "$work/by-scp" </dev/null
  seen scp-to scp -q -O -F "$place/kept/ssh_config" "$work/made-before" plain:"$work/by-old-scp" </dev/null
  seen scp-from scp -q -O -F "$place/kept/ssh_config" plain:"$work/made-before" "$work/by-old-scp-2" </dev/null
  seen sftp sftp -q -F "$place/kept/ssh_config" -b - plain <<<"get $work/made-before $work/by-sftp"
  GIT_SSH_COMMAND="ssh -F $place/kept/ssh_config" seen git git ls-remote "plain:$place/kept/repository"
  GIT_SSH_COMMAND="ssh -F $place/kept/ssh_config" seen clone git clone -q "plain:$place/kept/repository" "$work/clone"
  rm -rf "$work/clone/.git"
  kill "$daemon"
  wait "$daemon"
}

su_calls() {
  local number=0 text
  while IFS= read -r text <&3; do
    number=$((number + 1))
    seen "su-$number" su -s "$shell" -c "$text" root </dev/null
    seen "su-login-$number" su - root -c "cd $work; $text" </dev/null
    seen "su-args-$number" su -s "$shell" root -c "$text" name 'a b' </dev/null
  done 3<"$place/kept/texts"
}

cron_calls() {
  # Each line of it is a job as it is, and says when it is over in a file of its own.
  sed -e "s|SHELL_HERE|$shell|; s|HOME_HERE|$place/home|; s|WORK_HERE|$work|g" "$place/kept/crontab" \
    >/var/spool/cron/crontabs/root
  chmod 600 /var/spool/cron/crontabs/root
  cron -f 2>"$place/cron.log" &
  daemon=$!
  local all
  all=$(grep -c '^@reboot' "$place/kept/crontab")
  for _ in $(seq 200); do
    [ "$(find "$work" -name 'cron-*.over' | wc -l)" -ge "$all" ] && break
    sleep 0.05
  done
  kill "$daemon"
  wait "$daemon"
}

for calls in ${2//,/ }; do "${calls}_calls"; done
exit 0
