import type { SourceInfo } from '../../schema/batch.ts'
import { constantLabelNames, exportedName } from '../../schema/constant-labels.ts'
import type { RecordType } from '../../schema/record-type.ts'
import type { Labels } from '../../schema/series.ts'
import { encodeAttributes } from '../../wire/otlp/attributes.ts'
import { ProtobufWriter } from '../../wire/protobuf/writer.ts'
import { HARDWARE, RESOURCE_LABELS } from './conventions.ts'

/** A resource and a scope, encoded. */
export interface ScopeOrigin {
  readonly resource: Uint8Array
  readonly scope: Uint8Array
}

/** Resources that are remembered at most; beyond, all are forgotten. Two encodings of one resource are no fault. */
const REMEMBERED_MAX = 4096

/** The resources and scopes of records. */
export class Resources {
  readonly #common: Readonly<Record<string, string>>
  readonly #host: string
  readonly #version: string
  readonly #known = new Map<string, Uint8Array>()

  /** @param common Attributes of every resource; they win over those of records. */
  constructor(common: Readonly<Record<string, string>>, host: string, version: string) {
    this.#common = common
    this.#host = host
    this.#version = version
  }

  /** The origin of the records of a type from a source. Equal resources are the same object, and so are scopes. */
  of(type: RecordType, { id, tag, host = this.#host, labels }: SourceInfo): ScopeOrigin {
    const ofSource = Object.entries(labels).flatMap(([name, value]) => {
      const attribute = RESOURCE_LABELS.get(name)
      return attribute === undefined ? [] : [[attribute, value] as const]
    })
    const resource = { 'host.name': host, ...Object.fromEntries(ofSource), ...this.#common }
    return {
      resource: this.#encoded(`r${JSON.stringify(resource)}`, () => encodeAttributes(1, resource)),
      scope: this.#encoded(`s${JSON.stringify([type.fingerprint, type.name, id, tag])}`, () =>
        this.#encodeScope(type.name, { 'sonde.source': id, 'sonde.source_tag': tag }),
      ),
    }
  }

  /** The attributes of a series of a source, by its labels. */
  attributesOf(type: RecordType, source: SourceInfo): (labels: Labels) => Labels {
    const constant = constantLabelNames(type)
    const own = new Set(type.labels.map(({ name }) => name))
    const hardware = HARDWARE.get(type.entity?.kind ?? '')
    const key = type.entity?.key ?? []
    return (labels) => {
      const attributes: Record<string, string> = {}
      for (const [name, value] of Object.entries(labels)) {
        const attribute = RESOURCE_LABELS.get(name)
        // A label of the source that is an attribute of the resource is not repeated in each point.
        if (attribute !== undefined && !own.has(name) && Object.hasOwn(source.labels, name)) continue
        attributes[attribute ?? (constant.has(name) ? exportedName(name) : name)] = value
      }
      if (hardware !== undefined) {
        attributes['hw.type'] = hardware
        attributes['hw.id'] = key.map((name) => labels[name] ?? '').join('/')
      }
      return attributes
    }
  }

  #encodeScope(name: string, attributes: Readonly<Record<string, string>>): Uint8Array {
    const writer = new ProtobufWriter()
    writer.raw(encodeAttributes(3, attributes))
    if (this.#version !== '') writer.text(2, this.#version)
    writer.text(1, name)
    return writer.finish()
  }

  #encoded(key: string, encode: () => Uint8Array): Uint8Array {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    if (this.#known.size >= REMEMBERED_MAX) this.#known.clear()
    const bytes = encode()
    this.#known.set(key, bytes)
    return bytes
  }
}
