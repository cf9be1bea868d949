import { SondeError } from '@sonde/sdk'
import type { DeviceId } from './device-id.ts'

/** The names of a GPU, as another source reads them from the driver. */
export interface GpuName {
  readonly UUID: string
  /** Device file below `/dev`, such as `nvidia3`; empty if unknown. */
  readonly device: string
  /** MIG instances by their UUID. */
  readonly instances: Readonly<Record<string, string>>
}

/** A device by the labels of its records: UUID of the GPU, and id of the MIG instance, empty for a whole GPU. */
export interface ResolvedDevice {
  readonly UUID: string
  readonly GPU_I_ID: string
}

/** The names of the GPUs of this node. */
export class DeviceNames {
  readonly #byFile = new Map<string, string>()
  readonly #byInstance = new Map<string, ResolvedDevice>()

  constructor(gpus: readonly GpuName[] = []) {
    for (const { UUID, device, instances } of gpus) {
      if (device !== '') this.#byFile.set(device, UUID)
      for (const [uuid, GPU_I_ID] of Object.entries(instances)) this.#byInstance.set(uuid, { UUID, GPU_I_ID })
    }
  }

  /** The device that an id means; undefined if no source has reported a GPU or an instance of this name. */
  resolve(id: DeviceId): ResolvedDevice | undefined {
    if (id.kind === 'gpu') return { UUID: id.uuid, GPU_I_ID: '' }
    if (id.kind === 'instance') return { UUID: id.uuid, GPU_I_ID: id.instance }
    if (id.kind === 'mig') return this.#byInstance.get(id.uuid)
    const UUID = this.#byFile.get(id.file)
    return UUID === undefined ? undefined : { UUID, GPU_I_ID: id.instance }
  }
}

/**
 * Reads the command of the agent with the names of all GPUs: `{"gpus": [{"UUID", "device", "instances"}]}`.
 *
 * @throws SondeError `AGT_COMMAND` if the command is malformed.
 */
export function deviceNamesIn(command: unknown): DeviceNames {
  const { gpus } = (command ?? {}) as { readonly gpus?: unknown }
  const isName = (each: unknown): each is GpuName => {
    const { UUID, device, instances } = (each ?? {}) as Partial<Record<keyof GpuName, unknown>>
    return typeof UUID === 'string' && typeof device === 'string' && typeof instances === 'object' && instances !== null
  }
  if (Array.isArray(gpus) && gpus.every(isName)) return new DeviceNames(gpus)
  throw new SondeError('AGT_COMMAND', 'the command is not {"gpus": [{"UUID", "device", "instances"}]}')
}
