// A receiver of remote write that decodes with libraries which know nothing of our encoder.
import { readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import protobuf from 'protobufjs'
import SnappyJS from 'snappyjs'
import { HttpPeer, type HttpPeerAnswer } from './http-peer.ts'

const [schemas, schemas2] = ['remote-write.proto', 'remote-write-2.proto'].map((name) =>
  protobuf.parse(readFileSync(new URL(name, import.meta.url), 'utf8'), { keepCase: true }),
) as [protobuf.IParserResult, protobuf.IParserResult]

/** A sample as it arrived. `bits` are those of the value, high word first. */
export interface ArrivedSample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  readonly timeMs: number
}

/** Label names in the order of the message. */
export interface ArrivedSeries {
  readonly labels: readonly (readonly [name: string, value: string])[]
  readonly samples: readonly { readonly value: number; readonly timeMs: number }[]
}

interface Request1 {
  readonly timeseries: readonly {
    readonly labels: readonly { readonly name: string; readonly value: string }[]
    readonly samples: readonly { readonly value: number; readonly timestamp: number }[]
  }[]
}

/** The series of a body of Remote-Write 1.0. */
export function decode1(body: Uint8Array): ArrivedSeries[] {
  const type = schemas.root.lookupType('v1.WriteRequest')
  const message = type.toObject(type.decode(SnappyJS.uncompress(body)), { longs: Number, defaults: true }) as Request1
  return message.timeseries.map(({ labels, samples }) => ({
    labels: labels.map(({ name, value }) => [name, value] as const),
    samples: samples.map(({ value, timestamp }) => ({ value, timeMs: timestamp })),
  }))
}

/** Samples of series, each with its labels. */
export function samplesOf(series: readonly ArrivedSeries[]): ArrivedSample[] {
  return series.flatMap(({ labels, samples }) =>
    samples.map((sample) => ({ ...sample, labels: Object.fromEntries(labels) })),
  )
}

/** A native histogram as it arrived. */
export interface ArrivedHistogram {
  readonly count_int: number
  readonly sum: number
  readonly schema: number
  readonly positive_spans: readonly { readonly offset: number; readonly length: number }[]
  readonly positive_deltas: readonly number[]
  readonly timestamp: number
  readonly custom_values: readonly number[]
  readonly start_timestamp: number
}

/** A series of 2.0, with the symbols of its metadata. */
export interface ArrivedSeries2 extends ArrivedSeries {
  readonly samples: readonly { readonly value: number; readonly timeMs: number; readonly startMs: number }[]
  readonly histograms: readonly ArrivedHistogram[]
  readonly type: number
  readonly help: string
  readonly unit: string
}

interface Request2 {
  readonly symbols: readonly string[]
  readonly timeseries: readonly {
    readonly labels_refs: readonly number[]
    readonly samples: readonly {
      readonly value: number
      readonly timestamp: number
      readonly start_timestamp: number
    }[]
    readonly histograms: readonly ArrivedHistogram[]
    readonly metadata: { readonly type: number; readonly help_ref: number; readonly unit_ref: number }
  }[]
}

/** The series of a body of Remote-Write 2.0. */
export function decode2(body: Uint8Array): ArrivedSeries2[] {
  const type = schemas2.root.lookupType('v2.Request')
  const message = type.toObject(type.decode(SnappyJS.uncompress(body)), { longs: Number, defaults: true }) as Request2
  const symbol = (ref = 0) => {
    const text = message.symbols[ref]
    if (text === undefined) throw new Error(`symbol ${ref} of ${message.symbols.length}`)
    return text
  }
  if (symbol(0) !== '') throw new Error('the first symbol is not empty')
  return message.timeseries.map(({ labels_refs, samples, histograms, metadata }) => ({
    labels: Array.from({ length: labels_refs.length / 2 }, (_, i) => [
      symbol(labels_refs[i * 2]),
      symbol(labels_refs[i * 2 + 1]),
    ]),
    samples: samples.map((each) => ({ value: each.value, timeMs: each.timestamp, startMs: each.start_timestamp })),
    histograms,
    type: metadata.type,
    help: symbol(metadata.help_ref),
    unit: symbol(metadata.unit_ref),
  }))
}

/**
 * What a receiver takes. `1.0`: it answers 2.0 with 415. `1.0 with 400`: with 400. `silent 1.0`: with 204, and stores
 * nothing, as Prometheus 2.42 and VictoriaMetrics 1.79 do. `1.0 with a word`: the same with a count that is no number.
 * `2.0`: both.
 */
export type ReceiverKind = '1.0' | '1.0 with 400' | 'silent 1.0' | '1.0 with a word' | '2.0'

/**
 * A receiver of remote write on the loopback interface, made from the table of headers and statuses of the protocol.
 */
export class RemoteWritePeer {
  readonly http: HttpPeer
  kind: ReceiverKind = '1.0'
  /** Series that it stored, of both versions. */
  readonly series: (ArrivedSeries | ArrivedSeries2)[] = []
  /** Versions of the requests that it was sent. */
  readonly versions: string[] = []

  private constructor(http: HttpPeer) {
    this.http = http
    http.answer = (_, payload) => this.#answer(payload)
  }

  /** Starts one that ends with the test. */
  static async start(t: TestContext): Promise<RemoteWritePeer> {
    return new RemoteWritePeer(await HttpPeer.start(t))
  }

  /** The samples of all requests that it stored. */
  get samples(): ArrivedSample[] {
    return samplesOf(this.series)
  }

  #answer(payload: Buffer): HttpPeerAnswer {
    const version = String(this.http.headers['x-prometheus-remote-write-version'])
    this.versions.push(version)
    if (version === '0.1.0') {
      this.series.push(...decode1(payload))
      return { status: 204, text: '' }
    }
    if (this.kind === '1.0') return { status: 415, text: 'unsupported' }
    if (this.kind === '1.0 with 400') return { status: 400, text: 'what is that' }
    if (this.kind === 'silent 1.0') return { status: 204, text: '' }
    if (this.kind === '1.0 with a word')
      return { status: 204, text: '', headers: { 'X-Prometheus-Remote-Write-Samples-Written': 'many' } }
    const series = decode2(payload)
    this.series.push(...series)
    const count = (of: (each: ArrivedSeries2) => number) => String(series.reduce((sum, each) => sum + of(each), 0))
    const headers = {
      'X-Prometheus-Remote-Write-Samples-Written': count(({ samples }) => samples.length),
      'X-Prometheus-Remote-Write-Histograms-Written': count(({ histograms }) => histograms.length),
    }
    return { status: 204, text: '', headers }
  }
}
