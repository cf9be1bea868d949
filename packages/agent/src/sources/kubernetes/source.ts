import { SondeError, wallNs } from '@sonde/sdk'
import { APP_LABELS, countOf, SERVICE_LABELS } from '@sonde/sdk/internal'
import type { Duty, NodeSource, Probe, SourceContext } from '../source.ts'
import type { ApiServer } from './api-server.ts'
import { apiServerOf, nodeNameOf } from './cluster-address.ts'
import type { KubernetesOptions } from './config.ts'
import { DeviceNames, type GpuName, gpuNamesIn } from './device-names.ts'
import { heldDevices } from './held-devices.ts'
import { HeldNics } from './held-nics.ts'
import { Kubelet } from './kubelet.ts'
import { lookForSocket } from './kubernetes.ts'
import { type PodResources, parsePodResources } from './parse.ts'
import { PodCache } from './pod-cache.ts'
import { PodRows, type ReportedPod } from './pod-rows.ts'
import { PodWatch } from './pod-watch.ts'
import { ResourceSlices } from './resource-slices.ts'
import { gpuResources, nicResources } from './resources.ts'

/** Time beyond the limit of an answer before the call counts as stuck. Unit: milliseconds. */
const GRACE_MS = 1000
/** A list of pods may have many pages. Unit: milliseconds. */
const LIST_MS = 120_000
const STEP_EVERY_US = 1_000_000
/** Pods in these phases hold nothing any more, although the kubelet may still list their devices. */
const ENDED: ReadonlySet<string> = new Set(['Succeeded', 'Failed'])

/** Reports the pods of this node and the GPUs that they hold. */
export class KubernetesSource implements NodeSource {
  readonly #options: KubernetesOptions
  readonly #context: SourceContext
  readonly #kubelet: Kubelet
  readonly #isGpu: (resource: string) => boolean
  readonly #isNic: (resource: string, id: string) => boolean
  readonly #nics: HeldNics
  readonly #rows: PodRows
  readonly #cache: PodCache
  /** Undefined if the API server is not read. */
  readonly #watch: PodWatch | undefined
  readonly #slices: ResourceSlices | undefined
  readonly #duties: readonly Duty[]
  #gpus: readonly GpuName[] = []
  #found = ''

  constructor(options: KubernetesOptions, context: SourceContext) {
    this.#options = options
    this.#context = context
    this.#kubelet = new Kubelet(options)
    this.#isGpu = gpuResources(options.gpu_resources)
    this.#isNic = nicResources(options.nic_resources)
    this.#nics = new HeldNics(context.paths.sysfs)
    const nodeName = nodeNameOf(options)
    const copied = { keys: options.pod_labels, limit: options.pod_labels_max }
    this.#rows = new PodRows(context, nodeName, copied)
    this.#cache = new PodCache(options.max_pods)
    const server = apiServerOf(options)
    this.#watch = server && this.#watchOf(server, nodeName)
    this.#slices = server && new ResourceSlices(server, nodeName)
    const ask: Duty = {
      ...{ device: 'kubelet', name: 'list', everyUs: context.intervalMs * 1000, paces: 'report' },
      // An answer with claims may need a list of the API server in each of its versions.
      ...{
        limitMs: options.kubelet_timeout_ms + 3 * options.api_timeout_ms + GRACE_MS,
        limitKey: 'kubelet_timeout_ms',
      },
      run: () => this.#ask(),
    }
    const watch = this.#watch
    const follow = (running: PodWatch): Duty => ({
      ...{ device: 'API server', name: 'watch', everyUs: STEP_EVERY_US, limitMs: LIST_MS },
      run: () => running.step(),
    })
    this.#duties = watch === undefined ? [ask] : [follow(watch), ask]
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
    this.#gpus = gpuNamesIn(command)
    return {}
  }

  stuck(device: string, reason: string): void {
    if (device === 'kubelet') this.#rows.fail(reason)
  }

  close(): void {
    this.#kubelet.close()
    this.#watch?.close()
    this.#slices?.close()
  }

  /** Asks the kubelet, and reports all pods that hold or ask for GPUs. */
  async #ask(): Promise<void> {
    try {
      await this.#report(await this.#kubelet.list())
    } catch (error) {
      this.#rows.fail(error instanceof SondeError ? error.message : String(error))
      throw error
    }
  }

  async #report(bytes: Uint8Array): Promise<void> {
    const { kubelet_socket: path, max_devices: devicesMax } = this.#options
    const isWanted = (resource: string, id: string) => this.#isGpu(resource) || this.#isNic(resource, id)
    const answer = parsePodResources(bytes, { isWanted, devicesMax })
    if (answer === undefined)
      throw new SondeError('SRC_KUBELET', `the kubelet at ${path} answers with bytes that are no PodResources`)
    this.#drop('device_limit', answer.leftOut)
    this.#drop('name', answer.refused)
    this.#drop('pod_limit', this.#cache.takeLeftOut())
    if (answer.claims.length > 0) await this.#refreshSlices()
    const { gpus, nics } = this.#sorted(answer)
    const claimed = this.#slices?.devices ?? new Map<string, string>()
    const held = this.#ofPresentPods(heldDevices(gpus, new DeviceNames(this.#gpus, claimed)))
    const heldNics = this.#ofPresentPods(await this.#nics.find(nics, claimed, performance.now()))
    const pods = new Map<string, ReportedPod>()
    const add = (namespace: string, pod: string) =>
      pods.set(`${namespace}/${pod}`, { namespace, pod, facts: this.#cache.get(namespace, pod) })
    for (const { namespace, pod } of held) add(namespace, pod)
    for (const { namespace, name, requestedGpus, phase } of this.#cache.all())
      if (requestedGpus > 0 && !ENDED.has(phase)) add(namespace, name)
    this.#rows.report({ pods: pods.values(), devices: held, nics: heldNics }, wallNs())
    const known = this.#watch === undefined ? '' : `; the API server reports ${countOf(this.#cache.count, 'pod')}`
    const counts = [
      countOf(answer.pods, 'pod'),
      countOf(held.length, 'GPU of containers', 'GPUs of containers'),
      ...(heldNics.length === 0 ? [] : [countOf(heldNics.length, 'NIC of containers', 'NICs of containers')]),
    ]
    this.#found = `${counts.join(', ')}${known}`
  }

  /** The GPUs and the NICs of an answer. */
  #sorted({ devices, claims }: PodResources) {
    const isGpu = this.#isGpu
    return {
      gpus: {
        devices: devices.filter((one) => isGpu(one.resource)),
        claims: claims.filter((one) => isGpu(one.driver)),
      },
      nics: {
        devices: devices.filter((one) => !isGpu(one.resource)),
        claims: claims.filter((one) => !isGpu(one.driver)),
      },
    }
  }

  /** Without the devices of pods that have ended, which are counted. */
  #ofPresentPods<T extends { readonly namespace: string; readonly pod: string }>(all: readonly T[]): T[] {
    const held = all.filter(({ namespace, pod }) => !ENDED.has(this.#cache.get(namespace, pod)?.phase ?? ''))
    this.#drop('pod_ended', all.length - held.length)
    return held
  }

  /** Devices of claims are looked up only if a container has one. */
  async #refreshSlices(): Promise<void> {
    try {
      await this.#slices?.refresh(performance.now())
    } catch (error) {
      // The devices keep their names of the driver, with the doubt; the rest of the answer is reported.
      this.#context.failed('API server', error)
    }
  }

  #drop(reason: string, records: number): void {
    if (records > 0) this.#context.dropped(reason, records)
  }

  #watchOf(server: ApiServer, nodeName: string): PodWatch {
    const facts = {
      labels: new Set<string>([...APP_LABELS, ...SERVICE_LABELS, ...this.#options.pod_labels]),
      isGpu: this.#isGpu,
    }
    const failed = (error: SondeError) => this.#context.failed('API server', error)
    return new PodWatch({ server, cache: this.#cache, facts, nodeName, failed })
  }
}
