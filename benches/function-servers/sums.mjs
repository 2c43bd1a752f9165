// The measured function, as mcp-bash serves it.
import { tool } from 'mcp-bash';

export const add = tool('Adds two numbers.', { a: 'integer', b: 'integer' }, ({ a, b }) => a + b);
