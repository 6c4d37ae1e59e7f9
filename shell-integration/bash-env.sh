# A door to gsh for programs that start /bin/bash themselves:
#
#     SHLVL=1 BASH_ENV=/path/to/this/file some-agent
#
# (Without SHLVL a bash whose standard input is a socket believes that rshd started it, and reads ~/.bashrc instead.)
# A bash that is given a command (`bash -c TEXT NAME ARGS`) reads this file first, and becomes gsh with the same
# text, name, arguments and options. A bash that runs a script file, reads standard input or is a person's does not.
# gsh takes BASH_ENV out of what it runs: what an allowed command starts was decided with that command and does not
# come here again, and nothing goes in circles. If gsh cannot be started, bash ends and nothing runs.
if [[ -n ${BASH_EXECUTION_STRING+given} ]]; then
  unset BASH_ENV
  {
    gsh_options=()
    for gsh_option in allexport errexit noclobber noglob nounset pipefail verbose xtrace; do
      if [[ -o $gsh_option ]]; then gsh_options+=(-o "$gsh_option"); fi
    done
    set +x
    unset gsh_option
    shopt -u execfail
  } 2>/dev/null
  exec gsh ${gsh_options[@]+"${gsh_options[@]}"} -c "$BASH_EXECUTION_STRING" "$0" "$@"
fi
