SNAPSHOT_FILE=PLACE
source "/home/dev/.bashrc" < /dev/null
echo "# Snapshot file" >| "$SNAPSHOT_FILE"
echo "unalias -a 2>/dev/null || true" >> "$SNAPSHOT_FILE"
echo "# Functions" >> "$SNAPSHOT_FILE"
declare -f > /dev/null 2>&1
declare -F | cut -d' ' -f3 | grep -vE '^(_|__)' | while read func; do
  encoded=$(declare -f "$func" | base64)
  echo "eval \"\$(echo '$encoded' | base64 -d)\" > /dev/null 2>&1" >> "$SNAPSHOT_FILE"
done
echo "# Shell Options" >> "$SNAPSHOT_FILE"
shopt -p | head -n 1000 >> "$SNAPSHOT_FILE"
set -o | grep "on" | awk '{print "set -o " $1}' | head -n 1000 >> "$SNAPSHOT_FILE"
echo "# Aliases" >> "$SNAPSHOT_FILE"
alias | sed 's/^alias //g' | sed 's/^/alias -- /' | head -n 1000 >> "$SNAPSHOT_FILE"
cat >> "$SNAPSHOT_FILE" << 'MORE'
function find {
  ARGV0=bfs /opt/agents/claude "$@"
}
MORE
echo "export PATH='$PATH'" >> "$SNAPSHOT_FILE"
if [ ! -f "$SNAPSHOT_FILE" ]; then
  echo "no snapshot was written" >&2
  exit 1
fi
