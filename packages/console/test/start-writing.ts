import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const CHILD = fileURLToPath(new URL('store-child.ts', import.meta.url))

/** A process that writes; `acked` is the number of the last record that was acknowledged to it. */
export interface Writing {
  readonly child: ChildProcess
  readonly state: { acked: number; output: string }
}

/** Starts a process that writes numbered records from `first` on, and compacts each time it wrote `compactEvery`. */
export function startWriting(path: string, first: number, compactEvery: number): Writing {
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, CHILD, path, String(first), String(compactEvery)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const state = { acked: first - 1, output: '' }
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('acked ')) state.acked = Number(line.slice(6))
  })
  child.stderr.on('data', (text: Buffer) => {
    state.output += text.toString()
  })
  return { child, state }
}
