import { dirname } from 'node:path'
import { shellWord, sondeCommand } from '@sonde/sdk/internal'

/** The shell command that prints the content of a store. */
export function readCommand(storeFile: string): string {
  return `${sondeCommand()} read --store ${shellWord(dirname(storeFile))}`
}
