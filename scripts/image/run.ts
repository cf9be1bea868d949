import { spawnSync } from 'node:child_process'

/** Runs a program to its end and answers what it printed; what it printed is the failure if it fails. */
export function runProgram(command: string, args: readonly string[], cwd?: string): string {
  const options = { encoding: 'utf8', maxBuffer: 1 << 26, ...(cwd === undefined ? {} : { cwd }) } as const
  const { error, status, stdout, stderr } = spawnSync(command, args, options)
  if (error !== undefined) throw new Error(`cannot start ${command}: ${error.message}`)
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`)
  return stdout
}
