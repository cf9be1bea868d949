import { SondeError } from '@sonde/sdk'
import { isPciAddress } from '../pod-nics/functions.ts'
import type { ApiServer } from './api-server.ts'
import { type ClaimDevices, claimKey } from './device-names.ts'
import { isObject, jsonFrom, objectAt, objectsAt, textAt } from './json.ts'

/** Versions of the API, the newest first. A server has one of them, or none. */
const VERSIONS = ['v1', 'v1beta2', 'v1beta1']
/** Devices that are kept. Policy: further devices are not resolved. */
const DEVICES_MAX = 4096
const UUID = /^(GPU|MIG)-[0-9A-Za-z-]{1,80}$/
/** Time between two lists: a driver publishes its devices when it starts. Unit: milliseconds. */
const EVERY_MS = 60_000

/** The devices that drivers of claims publish for this node, by a list each minute. */
export class ResourceSlices {
  readonly #server: ApiServer
  readonly #nodeName: string
  readonly #ending = new AbortController()
  #listedMs = Number.NEGATIVE_INFINITY
  /** UUIDs of GPUs and MIG instances, and PCI addresses of NICs. */
  devices: ClaimDevices = new Map()

  constructor(server: ApiServer, nodeName: string) {
    this.#server = server
    this.#nodeName = nodeName
  }

  /**
   * Lists the devices again if a minute has passed.
   *
   * @throws SondeError `SRC_API_SERVER` if no version of the API gives a list.
   */
  async refresh(nowMs: number): Promise<void> {
    if (nowMs - this.#listedMs < EVERY_MS) return
    this.#listedMs = nowMs
    const selector = `fieldSelector=${encodeURIComponent(`spec.nodeName=${this.#nodeName}`)}`
    let fault: unknown
    for (const version of VERSIONS) {
      try {
        const path = `/apis/resource.k8s.io/${version}/resourceslices?${selector}&limit=500`
        const answer = await this.#server.list(path, this.#ending.signal)
        if (answer.status !== 200) continue
        this.devices = claimDevicesIn(jsonFrom(answer.text))
        return
      } catch (error) {
        fault = error
      }
    }
    throw fault ?? new SondeError('SRC_API_SERVER', `the API server ${this.#server.address} lists no resourceslices`)
  }

  /** Ends an open request. */
  close(): void {
    this.#ending.abort()
  }
}

/** Attribute with the PCI address of a device; the same for all drivers. */
const PCI_ADDRESS = 'resource.kubernetes.io/pciBusID'

/** The devices in a list of resource slices. In `v1beta1`, the attributes of a device are one level deeper. */
function claimDevicesIn(list: unknown): ClaimDevices {
  const devices = new Map<string, string>()
  for (const slice of objectsAt(list, 'items')) {
    const spec = objectAt(slice, 'spec')
    const [driver, pool] = [textAt(spec, 'driver'), textAt(objectAt(spec, 'pool'), 'name')]
    for (const device of objectsAt(spec, 'devices')) {
      const inner = isObject(device.basic) ? device.basic : device
      const attributes = objectAt(inner, 'attributes')
      const [uuid, address] = ['uuid', PCI_ADDRESS].map((name) => textAt(objectAt(attributes, name), 'string'))
      const found = [uuid, address].find((name = '') => UUID.test(name) || isPciAddress(name))
      if (found === undefined || devices.size >= DEVICES_MAX) continue
      devices.set(claimKey(driver, pool, textAt(device, 'name')), found)
    }
  }
  return devices
}
