printf %s '__copilot_login_env_snapshot_5f3a'; if ! command env -0 2>/dev/null; then
  env
fi
printf %s '__copilot_login_env_snapshot_5f3a'
