# gsh looks over your shoulder: every line that you enter in this fish is decided by gsh before fish runs it.
#
#     gsh init fish        adds to conf.d:  set -g GSH_WHEN_BROKEN strict; source FILE PROGRAM
#
# Enter is bound to a function that has gsh decide first; a refused line stays in the editor. gsh reads a line as bash
# would; what fish reads in its own way is asked about. Switch it off in one shell: gsh_off. What gsh cannot answer
# holds the line (strict) or lets it run (warn).

if status is-interactive; and not set -q __gsh_program
    set -g __gsh_program gsh
    set -q argv[1]; and set -g __gsh_program $argv[1]
    set -g __gsh_patience 5
    set -q argv[2]; and set -g __gsh_patience $argv[2]
    set -g __gsh_when_broken strict
    set -q GSH_WHEN_BROKEN; and set -g __gsh_when_broken $GSH_WHEN_BROKEN
    set -g __gsh_beneath
    set -q GSH_MODE; and set -g __gsh_beneath yes

    function __gsh_enter
        # What `read` reads has this binding too, and is no command.
        set -l text (commandline -b | string collect)
        if test (status current-command) != fish; or commandline --paging-mode; or not string match -qr '\S' -- $text; or test "$text" = gsh_off
            commandline -f execute
            return
        end
        commandline --is-valid
        if test $status -eq 2
            # fish wants more of it.
            commandline -f execute
            return
        end
        # What an abbreviation stands for is what is decided, and seen first.
        if abbr -q -- (commandline -t)
            commandline -f expand-abbr
            return
        end
        set -g __gsh_shown
        __gsh_ask $text
        set -l may $status
        # fish paints the line anew from its first row on, as if the cursor had stayed where it was.
        if test -n "$__gsh_shown"; and test (commandline --line) -gt 1
            string repeat -N -n (math (commandline --line) - 1) \n >&2
        end
        if test $may -eq 0
            # No other one is put in at the end, behind a blank.
            test -n "$(abbr --list)"; and commandline -r -- "$text "
            commandline -f execute
        else
            commandline -f repaint
        end
    end

    function __gsh_ask
        if string match -qr '(?s).{30000}' -- $argv[1]
            echo 'gsh: not run: too long to be typed; put it into a file' >&2
            return 1
        end
        set -l told (__gsh_told $argv[1] | string collect -N)
        set -l said
        set -l ended 127
        # Whether it runs at all, within a time: asked before the first line, and again when there was no answer. From
        # then on gsh itself looks at the time.
        if not set -q __gsh_proven; and command -q $__gsh_program
            set -l timed
            command -q timeout; and set timed timeout -k 1 $__gsh_patience
            set said ($timed $__gsh_program --version 2>/dev/null </dev/null)
            set ended $status
            string match -q 'gsh *,0' -- "$said,$ended"; and set -g __gsh_proven yes
            set said
        end
        if set -q __gsh_proven
            set ended 127
        else
            echo >&2
            set -g __gsh_shown yes
        end
        if set -q __gsh_proven; and command -q $__gsh_program
            set said (GSH_LINE=$argv[1] GSH_DEFINED=$told $__gsh_program typed --shell fish 2>/dev/null)
            set ended $status
        end
        if set -q __gsh_proven; and test "$said,$ended" != run,0
            # Below the line.
            echo >&2
            set -g __gsh_shown yes
            if command -q $__gsh_program
                set said (GSH_LINE=$argv[1] GSH_DEFINED=$told $__gsh_program typed --shell fish --whole)
                set ended $status
            end
        end
        switch "$said,$ended"
            case run,0
                return 0
            case no,126 '*,130'
                return 1
        end
        set -e __gsh_proven
        # What gsh cannot answer. Told in full once.
        if test $__gsh_when_broken = warn
            set -q __gsh_told_broken; or echo "gsh: $__gsh_program gives no answer (status $ended): lines run as they are, undecided" >&2
            set -g __gsh_told_broken yes
            return 0
        end
        echo "gsh: not run: $__gsh_program gives no answer (status $ended)" >&2
        set -q __gsh_told_broken; or echo 'gsh: gsh_off switches it off in this shell; GSH_WHEN_BROKEN warn lets lines run' >&2
        set -g __gsh_told_broken yes
        return 1
    end

    # Tells gsh which words are functions of this person's own: their bodies are fish's language.
    function __gsh_told
        for word in (string match -ar '[A-Za-z_.][A-Za-z0-9_.+@-]*' -- $argv[1])
            functions -q -- $word; or continue
            string match -q '__gsh_*' -- $word; and continue
            test $word = gsh_off; and continue
            string match -q -- "$__fish_data_dir/*" (functions --details -- $word); and continue
            printf 'o\x1e%s\x1f' $word
        end
    end

    # For the person who sits here: gsh looks whether that is so.
    function gsh_off
        set -l said
        set -l ended 127
        if command -q $__gsh_program
            set said ($__gsh_program typed --off)
            set ended $status
        end
        if test "$said,$ended" != off,0
            test $ended -eq 126; and return 1
            if test -n "$__gsh_beneath"; or not isatty stdin
                echo "gsh: not switched off: $__gsh_program gives no answer, and this shell was started by gsh" >&2
                return 1
            end
            read -l -P "gsh: $__gsh_program gives no answer. Type the word off to go on without it: " answer </dev/tty
            test "$answer" = off; or return 1
        end
        for mode in default insert
            bind -e -M $mode \r
            bind -e -M $mode \n
        end
        functions -e __gsh_bind
        echo 'gsh: off in this shell' >&2
    end

    function __gsh_bind --on-event fish_prompt
        for mode in default insert
            bind -M $mode \r __gsh_enter
            bind -M $mode \n __gsh_enter
        end
    end
    __gsh_bind
end
