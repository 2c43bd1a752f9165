// The tool __NAME__. Clients see its description and its arguments; printed output is logged.

import { tool, ToolError } from 'mcp-bash'

export const __FUNCTION__ = tool(
  {
__NAMED__    description: 'Greets somebody by name. Say here what the tool does and when a model should use it.',
    input: {
      name: {
        type: 'string',
        description: 'Who is greeted, for example Ada; the world if nobody is named',
        default: 'World',
      },
    },
    output: 'string',
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  ({ name }, { progress }) => {
    // If the model can correct its call, throw an error with a hint.
    if (name.includes('\n')) {
      throw new ToolError('The name has more than one line', { hint: 'Give a name without line breaks' })
    }

    // Progress, for calls that take longer than this one.
    progress(1, 2, `Greeting ${name}`)

    return `Hello, ${name}!`
  },
)
