import { dirname } from 'node:path'
import { shellWord } from '@sonde/sdk/internal'

/**
 * The shell command that prints what the store in a file keeps; `sonde` is called as whoever started this process
 * called it.
 */
export function readCommand(storeFile: string): string {
  // npm says so to everything that `npx` and `npm start` run.
  const sonde = process.env.npm_command === undefined ? 'sonde' : 'npx sonde'
  return `${sonde} read --store ${shellWord(dirname(storeFile))}`
}
