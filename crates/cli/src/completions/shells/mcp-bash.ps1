# Completion of mcp-bash for PowerShell. It asks mcp-bash what could stand at the cursor.
Register-ArgumentCompleter -Native -CommandName mcp-bash -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
    $before = @($words | Select-Object -Skip 1)
    & $words[0] __complete words @before "$wordToComplete" 2>$null | Select-Object -Skip 1 | ForEach-Object {
        $word, $help = $_ -split "`t", 2
        [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $(if ($help) { $help } else { $word }))
    }
}
