# Completion of mcp-bash for PowerShell. It asks mcp-bash what could stand at the cursor.
Register-ArgumentCompleter -Native -CommandName mcp-bash -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
    $before = @($words | Select-Object -Skip 1)
    & $words[0] __complete words @before "$wordToComplete" 2>$null | Select-Object -Skip 1 | ForEach-Object {
        $word, $help = $_ -split "`t", 2
        # What PowerShell would not take for one plain word is put in quotes.
        $quoted = "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($word) + "'"
        $text = if ($word -cmatch '^[A-Za-z0-9_./:=+-]+$') { $word } else { $quoted }
        [System.Management.Automation.CompletionResult]::new($text, $word, 'ParameterValue', $(if ($help) { $help } else { $word }))
    }
}
