import { SondeError } from '@sonde/sdk'
import { isPciAddress } from '../pod-nics/functions.ts'
import type { DeviceId } from './device-id.ts'
import { isObject, textAt } from './json.ts'

/** The names of a GPU, as another source reads them from the driver. */
export interface GpuName {
  readonly UUID: string
  /** Device file below `/dev`, such as `nvidia3`; empty if unknown. */
  readonly device: string
  /** Label of its node; empty if it is the node of the agent. */
  readonly Hostname: string
  /** Ids of its MIG instances by their UUID. */
  readonly instances: Readonly<Record<string, string>>
}

/** A device by the labels of its records: UUID of the GPU, and id of the MIG instance, empty for a whole GPU. */
export interface ResolvedDevice {
  readonly UUID: string
  readonly GPU_I_ID: string
  readonly Hostname: string
}

/** Devices of drivers of claims by the key of `claimKey`: UUID of a GPU or of a MIG instance, or PCI address. */
export type ClaimDevices = ReadonlyMap<string, string>

/** The names of the GPUs of this node. */
export class DeviceNames {
  readonly #gpus = new Map<string, GpuName>()
  readonly #byFile = new Map<string, GpuName>()
  readonly #byInstance = new Map<string, ResolvedDevice>()
  readonly #claimed: ClaimDevices

  /**
   * @param gpus GPUs as other sources name them.
   * @param claimed Devices of claims. Default: none is known.
   */
  constructor(gpus: readonly GpuName[] = [], claimed: ClaimDevices = new Map()) {
    this.#claimed = claimed
    // Only GPUs of one node have distinct device files. The agent may read exporters of several nodes.
    const nodes = new Set(gpus.map(({ Hostname }) => Hostname))
    const isHere = ({ Hostname }: GpuName) => Hostname === '' || nodes.size === 1
    for (const gpu of gpus) {
      this.#gpus.set(gpu.UUID, gpu)
      if (gpu.device !== '' && isHere(gpu)) this.#byFile.set(gpu.device, gpu)
      for (const [uuid, id] of Object.entries(gpu.instances)) this.#byInstance.set(uuid, deviceOf(gpu, id))
    }
  }

  /** The device that an id means; undefined if no source has reported a GPU or an instance of this name. */
  resolve(id: DeviceId): ResolvedDevice | undefined {
    if (id.kind === 'mig') return this.#byInstance.get(id.uuid)
    if (id.kind === 'file') {
      const gpu = this.#byFile.get(id.file)
      return gpu && deviceOf(gpu, id.instance)
    }
    const gpu = this.#gpus.get(id.uuid) ?? { UUID: id.uuid, Hostname: '' }
    return deviceOf(gpu, id.kind === 'instance' ? id.instance : '')
  }

  /** The device of a claim; undefined if neither the API server nor a source has named it. */
  ofClaim(driver: string, pool: string, device: string): ResolvedDevice | undefined {
    const uuid = this.#claimed.get(claimKey(driver, pool, device))
    if (uuid === undefined || isPciAddress(uuid)) return undefined
    return this.resolve({ kind: uuid.startsWith('MIG-') ? 'mig' : 'gpu', uuid })
  }
}

/** The key of a device of claims: a driver names it uniquely within a pool. */
export function claimKey(driver: string, pool: string, device: string): string {
  return JSON.stringify([driver, pool, device])
}

function deviceOf({ UUID, Hostname }: Pick<GpuName, 'UUID' | 'Hostname'>, GPU_I_ID: string): ResolvedDevice {
  return { UUID, GPU_I_ID, Hostname }
}

/**
 * Reads the command of the agent with the names of all GPUs: `{"gpus": [{"UUID", "device", "Hostname", "instances"}]}`.
 *
 * @throws SondeError `AGT_COMMAND` if the command is malformed.
 */
export function gpuNamesIn(command: unknown): readonly GpuName[] {
  const gpus = isObject(command) && Array.isArray(command.gpus) ? command.gpus : undefined
  const isName = (each: unknown): each is GpuName =>
    isObject(each) &&
    textAt(each, 'UUID') !== '' &&
    ['device', 'Hostname'].every((name) => typeof each[name] === 'string') &&
    isObject(each.instances)
  if (gpus?.every(isName)) return gpus
  throw new SondeError('AGT_COMMAND', 'the command is not {"gpus": [{"UUID", "device", "Hostname", "instances"}]}')
}
