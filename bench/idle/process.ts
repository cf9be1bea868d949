import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** A process under measurement. */
export interface Measured {
  readonly pid: number
  /** Processor time used since it started, in user and kernel mode. Unit: seconds. */
  cpuSeconds(): number
  /** Memory that is resident now. Unit: bytes. */
  residentBytes(): number
}

/** The kernel counts processor time in these. Unit: ticks a second; the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

/** Starts a program; `ready` is awaited in what it writes, where it is given. */
export async function startMeasured(
  program: string,
  args: readonly string[],
  ready?: RegExp,
): Promise<{ child: ChildProcess; process: Measured }> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, SONDE_CONFIG: '' } })
  let text = ''
  await new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      text += chunk.toString()
      if (ready?.test(text) === true) resolve()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${program} ended with ${code}: ${text}`)))
    if (ready === undefined) child.once('spawn', resolve)
  })
  return { child, process: measure(child.pid ?? 0) }
}

/** The processes that a process started and that are there. */
export function childrenOf({ pid }: Measured): Measured[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return children === '' ? [] : children.split(' ').map((child) => measure(Number(child)))
}

function measure(pid: number): Measured {
  const read = (file: string): string => readFileSync(`/proc/${pid}/${file}`, 'utf8')
  return {
    pid,
    cpuSeconds() {
      // The name of the program, in brackets, may hold spaces; user and kernel time are fields 14 and 15.
      const fields = read('stat')
        .replace(/^.*\) /s, '')
        .split(' ')
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
    },
    residentBytes: () => Number(/^VmRSS:\s*(\d+) kB/m.exec(read('status'))?.[1]) * 1024,
  }
}
