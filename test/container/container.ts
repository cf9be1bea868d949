import { until } from '../sonde-process.ts'
import type { ContainerOptions, Runtime, Started } from './runtime.ts'

/** What ends with a test, or a loop of faults. */
type Ended = { after(end: () => unknown): void }

const LIMIT_MS = 120_000
/** Any free port, because containers here have the network of the machine. */
const ANY_PORT = { SONDE_EXPORT_PROMETHEUS_PORT: '0', PROMETHEUS_PORT: '0' }

/** A container that a test started. */
export interface Container extends Pick<Started, 'pid'> {
  /** Waits for text in its output. */
  said(pattern: RegExp): Promise<RegExpExecArray>
  /** Everything it wrote so far. */
  output(): string
  /** Ends its first process by a signal, as the runtime of a node does. Resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  /** Waits for its end. */
  readonly ended: Promise<number | null>
}

/** Starts a container, which ends with the test. */
export function startContainer(t: Ended, runtime: Runtime, options: ContainerOptions): Container {
  const { child, pid } = runtime.start(options)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode !== null) return child.exitCode
    if (signal === 'SIGKILL') process.kill(await pid(), signal)
    else child.kill(signal)
    return ended
  }
  t.after(() => stop('SIGKILL').catch(() => undefined))
  return {
    ...{ pid, ended, stop, output: () => output },
    said: (pattern) =>
      until(`${pattern} from a container`, LIMIT_MS, () => {
        const found = pattern.exec(output)
        if (found === null && child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}:\n${output}`)
        return found ?? undefined
      }),
  }
}

/** A Sonde in a container. */
export interface ContainedSonde extends Container {
  /** Of page and API. */
  readonly address: string
  /** `host:port` of metrics alone. */
  readonly scrapes: string
}

/** Starts a Sonde in a container and waits until it is ready. */
export async function startContained(t: Ended, runtime: Runtime, options: ContainerOptions): Promise<ContainedSonde> {
  const container = startContainer(t, runtime, { ...options, env: { ...ANY_PORT, ...options.env } })
  const [, address = '', port = ''] = await container.said(/ready on (http:\S+) · metrics alone on port (\d+)/)
  return { ...container, address, scrapes: `127.0.0.1:${port}` }
}
