import { type ProtobufField, readFields } from '@sonde/sdk/internal'

// Decodes the answer of `v1.PodResourcesLister/List` of the kubelet. Field numbers are those of its `api.proto`. Only
// the needed fields are decoded: processors, memory and topology are skipped.

/** A device of a device plugin that a container holds. */
export interface AllocatedDevice {
  readonly namespace: string
  readonly pod: string
  readonly container: string
  /** Name of the resource, such as `nvidia.com/gpu`. */
  readonly resource: string
  /** Id of the device, in the form that its plugin chose. */
  readonly id: string
}

/** A device of a claim (dynamic resource allocation) that a container holds. */
export interface ClaimedDevice {
  readonly namespace: string
  readonly pod: string
  readonly container: string
  readonly claim: string
  readonly driver: string
  readonly pool: string
  readonly device: string
}

/** The devices in an answer. */
export interface PodResources {
  readonly devices: readonly AllocatedDevice[]
  readonly claims: readonly ClaimedDevice[]
  /** Pods of the node, those without devices included. */
  readonly pods: number
  /** Devices above the limit. */
  readonly leftOut: number
  /** Devices of pods or containers with impossible names. */
  readonly refused: number
}

/** Which devices are decoded. */
export interface PodResourcesOptions {
  /** Whether a device of a resource, or of a driver of claims, is decoded. Other devices are skipped. */
  readonly isWanted: (resource: string, id: string) => boolean
  /** Devices and claims that are kept; further devices are counted. */
  readonly devicesMax: number
}

/** Names of pods and namespaces: DNS subdomains. A container has a DNS label, which is such a name too. */
const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/
/** Ids and names of plugins and drivers: printable, without a line break. */
const ID = /^[\x21-\x7e]{1,512}$/

const utf8 = new TextDecoder('utf-8', { fatal: true })

class Malformed extends Error {}

/** Decodes an answer; undefined if the bytes are no such answer. */
export function parsePodResources(bytes: Uint8Array, options: PodResourcesOptions): PodResources | undefined {
  try {
    return new Decoder(options).decode(bytes)
  } catch (error) {
    // A TypeError comes from the decoder of UTF-8.
    if (error instanceof Malformed || error instanceof TypeError) return undefined
    throw error
  }
}

class Decoder {
  readonly #options: PodResourcesOptions
  readonly #devices: AllocatedDevice[] = []
  readonly #claims: ClaimedDevice[] = []
  #pods = 0
  #leftOut = 0
  #refused = 0

  constructor(options: PodResourcesOptions) {
    this.#options = options
  }

  decode(answer: Uint8Array): PodResources {
    for (const { field, bytes } of messagesIn(answer)) if (field === 1) this.#addPod(bytes)
    const [devices, claims] = [this.#devices, this.#claims]
    return { devices, claims, pods: this.#pods, leftOut: this.#leftOut, refused: this.#refused }
  }

  #addPod(message: Uint8Array): void {
    this.#pods++
    let [pod, namespace] = ['', '']
    const containers: Uint8Array[] = []
    for (const { field, bytes } of messagesIn(message)) {
      if (field === 1) pod = utf8.decode(bytes)
      else if (field === 2) namespace = utf8.decode(bytes)
      else if (field === 3) containers.push(bytes)
    }
    for (const container of containers) this.#addContainer(container, namespace, pod)
  }

  #addContainer(message: Uint8Array, namespace: string, pod: string): void {
    let container = ''
    const held: Uint8Array[] = []
    const claimed: Uint8Array[] = []
    for (const { field, bytes } of messagesIn(message)) {
      if (field === 1) container = utf8.decode(bytes)
      else if (field === 2) held.push(bytes)
      else if (field === 5) claimed.push(bytes)
    }
    const owner = { namespace, pod, container }
    for (const devices of held) this.#addDevices(devices, owner)
    for (const claim of claimed) this.#addClaim(claim, owner)
  }

  #addDevices(message: Uint8Array, owner: Owner): void {
    let resource = ''
    const ids: Uint8Array[] = []
    for (const { field, bytes } of messagesIn(message)) {
      if (field === 1) resource = utf8.decode(bytes)
      else if (field === 2) ids.push(bytes)
    }
    for (const bytes of ids) {
      const id = utf8.decode(bytes)
      if (this.#options.isWanted(resource, id)) this.#keep(this.#devices, owner, { resource, id })
    }
  }

  #addClaim(message: Uint8Array, owner: Owner): void {
    let claim = ''
    const resources: Uint8Array[] = []
    for (const { field, bytes } of messagesIn(message)) {
      if (field === 2) claim = utf8.decode(bytes)
      else if (field === 4) resources.push(bytes)
    }
    for (const resource of resources) {
      let [driver, pool, device] = ['', '', '']
      for (const { field, bytes } of messagesIn(resource)) {
        if (field === 2) driver = utf8.decode(bytes)
        else if (field === 3) pool = utf8.decode(bytes)
        else if (field === 4) device = utf8.decode(bytes)
      }
      if (this.#options.isWanted(driver, device)) this.#keep(this.#claims, owner, { claim, driver, pool, device })
    }
  }

  #keep<T extends Readonly<Record<string, string>>>(kept: (Owner & T)[], owner: Owner, device: T): void {
    if (!Object.values(owner).every((name) => NAME.test(name)) || !Object.values(device).every((id) => ID.test(id))) {
      this.#refused++
      return
    }
    if (this.#devices.length + this.#claims.length >= this.#options.devicesMax) this.#leftOut++
    else kept.push({ ...owner, ...device })
  }
}

interface Owner {
  readonly namespace: string
  readonly pod: string
  readonly container: string
}

/** The fields of a message that have a length: texts and messages. @throws Malformed if the bytes are no message. */
function* messagesIn(message: Uint8Array): Generator<ProtobufField> {
  const fields = readFields(message)
  for (;;) {
    const next = fields.next()
    if (next.done === true) {
      if (!next.value) throw new Malformed()
      return
    }
    // Field 0 does not exist; random bytes often have it.
    if (next.value.field === 0) throw new Malformed()
    if (next.value.wire === 2) yield next.value
  }
}
