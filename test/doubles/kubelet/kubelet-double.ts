import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Debian's interpreter: that of another installation has no gRPC of Debian. */
const PYTHON = '/usr/bin/python3'

/** A device of a container, by the name of its resource and its ids. */
export interface PlayedDevices {
  readonly resourceName: string
  readonly deviceIds: readonly string[]
}

/** A device of a claim of a container. */
export interface PlayedClaim {
  readonly claimName: string
  readonly claimNamespace?: string
  readonly claimResources: readonly {
    readonly driverName: string
    readonly poolName: string
    readonly deviceName: string
    readonly cdiDevices?: readonly { readonly name: string }[]
  }[]
}

/** A pod, as protobuf's JSON writes it. */
export interface PlayedPod {
  readonly name: string
  readonly namespace: string
  readonly containers: readonly {
    readonly name: string
    readonly devices?: readonly PlayedDevices[]
    readonly cpuIds?: readonly number[]
    readonly dynamicResources?: readonly PlayedClaim[]
  }[]
}

/** The next answers of the double. */
export type KubeletPlay =
  | { readonly answer: { readonly podResources: readonly PlayedPod[] } }
  | { readonly garbage: string }
  | { readonly bytes: number }
  | { readonly hang: true }
  | { readonly refuse: string; readonly details?: string }

/** A pod with one container that holds devices of one resource. */
export function podWith(name: string, ids: readonly string[], resourceName = 'nvidia.com/gpu'): PlayedPod {
  return { name, namespace: 'ml', containers: [{ name: 'main', devices: [{ resourceName, deviceIds: ids }] }] }
}

/** A kubelet with the PodResources API alone, on a socket of a test's own. Needs `grpcio`. */
export class KubeletDouble {
  readonly socket: string
  readonly #folder: string
  #process: ChildProcess | undefined

  constructor(test: { after(end: () => unknown): void }) {
    this.#folder = mkdtempSync(join(tmpdir(), 'sonde-kubelet-'))
    this.socket = join(this.#folder, 'kubelet.sock')
    const proto = ['--proto_path', import.meta.dirname, '--python_out', this.#folder, 'pod_resources.proto']
    execFileSync('protoc', proto)
    this.play({ answer: { podResources: [] } })
    test.after(async () => {
      await this.stop()
      rmSync(this.#folder, { recursive: true, force: true })
    })
  }

  /** Starts the server, again after a stop. Resolves when it answers. */
  async start(): Promise<this> {
    const args = [join(import.meta.dirname, 'kubelet.py'), this.socket, join(this.#folder, 'play.json'), this.#folder]
    const process = spawn(PYTHON, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#process = process
    const ended = once(process, 'exit').then(([code]) => {
      throw new Error(`the kubelet ended with ${code}`)
    })
    ended.catch(() => undefined)
    await Promise.race([once(process.stdout, 'data'), ended])
    return this
  }

  /** Ends the server at once; its socket stays, as that of a kubelet that crashed does. */
  async stop(): Promise<void> {
    const process = this.#process
    this.#process = undefined
    if (process === undefined || process.exitCode !== null) return
    process.kill('SIGKILL')
    await once(process, 'exit')
  }

  /** The next answers. */
  play(play: KubeletPlay): void {
    // Renamed into place: the server may read at this moment.
    writeFileSync(join(this.#folder, 'next.json'), JSON.stringify(play))
    renameSync(join(this.#folder, 'next.json'), join(this.#folder, 'play.json'))
  }

  /** The pods from now on. */
  pods(...podResources: readonly PlayedPod[]): void {
    this.play({ answer: { podResources } })
  }
}
