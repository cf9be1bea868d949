import { SondeError, wallNs } from '@sonde/sdk'
import { countOf } from '@sonde/sdk/internal'
import type { Duty, NodeSource, Probe, SourceContext } from '../source.ts'
import type { KubernetesOptions } from './config.ts'
import { DeviceNames, deviceNamesIn } from './device-names.ts'
import { Kubelet } from './kubelet.ts'
import { lookForSocket } from './kubernetes.ts'
import { parsePodResources } from './parse.ts'
import { PodRows } from './pod-rows.ts'
import { gpuResources } from './resources.ts'

/** Time beyond the limit of an answer before the call counts as stuck. Unit: milliseconds. */
const GRACE_MS = 1000

/** Reports the pods of this node and the GPUs that they hold. */
export class KubernetesSource implements NodeSource {
  readonly #options: KubernetesOptions
  readonly #context: SourceContext
  readonly #kubelet: Kubelet
  readonly #isWanted: (resource: string) => boolean
  readonly #rows: PodRows
  readonly #duties: readonly Duty[]
  #names = new DeviceNames()
  #found = ''

  constructor(options: KubernetesOptions, context: SourceContext) {
    this.#options = options
    this.#context = context
    this.#kubelet = new Kubelet(options)
    this.#isWanted = gpuResources(options.gpu_resources)
    this.#rows = new PodRows(context)
    this.#duties = [
      {
        ...{ device: 'kubelet', name: 'list', everyUs: context.intervalMs * 1000, paces: 'report' },
        ...{ limitMs: options.kubelet_timeout_ms + GRACE_MS, limitKey: 'kubelet_timeout_ms' },
        run: () => this.#list(),
      },
    ]
  }

  async probe(): Promise<Probe> {
    return lookForSocket(this.#options.kubelet_socket)
  }

  found(): string {
    return this.#found
  }

  duties(): readonly Duty[] {
    return this.#duties
  }

  /**
   * Takes the names of the GPUs of this node, by which ids of devices are resolved.
   *
   * @throws SondeError `AGT_COMMAND` if the command is malformed.
   */
  command(command: unknown): object {
    this.#names = deviceNamesIn(command)
    return {}
  }

  stuck(_device: string, reason: string): void {
    this.#rows.fail(reason)
  }

  close(): void {
    this.#kubelet.close()
  }

  async #list(): Promise<void> {
    const { kubelet_socket: path, max_devices: devicesMax } = this.#options
    let bytes: Uint8Array
    try {
      bytes = await this.#kubelet.list()
    } catch (error) {
      this.#rows.fail(error instanceof SondeError ? error.message : String(error))
      throw error
    }
    const answer = parsePodResources(bytes, { isWanted: this.#isWanted, devicesMax })
    if (answer === undefined) {
      const fault = new SondeError('SRC_KUBELET', `the kubelet at ${path} answers with bytes that are no PodResources`)
      this.#rows.fail(fault.message)
      throw fault
    }
    if (answer.leftOut > 0) this.#context.dropped('device_limit', answer.leftOut)
    if (answer.refused > 0) this.#context.dropped('name', answer.refused)
    this.#rows.report(answer, this.#names, wallNs())
    this.#found = `${countOf(answer.pods, 'pod')}, ${countOf(answer.devices.length + answer.claims.length, 'device')}`
  }
}
