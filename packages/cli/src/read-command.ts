import { dirname } from 'node:path'
import { shellWord, sondeCommand } from '@sonde/sdk/internal'

/** The shell command that prints what the store in a file keeps. */
export function readCommand(storeFile: string): string {
  return `${sondeCommand()} read --store ${shellWord(dirname(storeFile))}`
}
