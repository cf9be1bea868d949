import {
  array,
  type Batch,
  buckets,
  chars,
  counter,
  defineType,
  gauge,
  label,
  labelNumber,
  optional,
  type RecordOf,
  type RecordType,
  readRecords,
  type Source,
  type SourceOptions,
  text,
  timestamp,
  value,
  viewsOf,
  wallNs,
} from '../src/index.ts'
import { type Fields, TextTable } from '../src/internal/index.ts'
import { createOwnSource } from '../src/source/source.ts'

/** What the suite of sinks reports. */
export const portType = defineType('conformance_port', 'A port that exists only in tests', {
  time: timestamp(),
  device: label('Name of the port'),
  rx_bytes_total: counter('u64', { unit: 'bytes', help: 'Bytes received' }),
  speed_bytes_per_second: optional(gauge('u64', { unit: 'bytes', help: 'Speed a second' })),
})

/** The same name, other fields in another order: what a new version of a program declares. */
export const newPortType = defineType('conformance_port', 'A port that exists only in tests', {
  time: timestamp(),
  lane: labelNumber('u8', 'Lane of the port'),
  drops_total: counter('u64', { help: 'Packets dropped' }),
  device: label('Name of the port'),
  rx_bytes_total: counter('u64', { unit: 'bytes', help: 'Bytes received' }),
})

/** No metric, every kind of field, no alignment. */
export const oddType = defineType(
  'conformance.odd-type:1',
  'Everything that a record may hold',
  {
    flag: value('bool'),
    time: timestamp('us'),
    part: chars(7),
    small: value('i8'),
    wide: optional(array(value('u64'), 3)),
    signed: value('i64'),
    real: value('f32'),
    note: text(),
    wait: buckets('u32', [0.5, 1, 2]),
  },
  { layout: 'packed' },
)

/** One record that fills {@link oddType} with values at the limits. */
export const ODD_RECORD: RecordOf<typeof oddType> = {
  flag: true,
  time: 1_800_000_000_000_000,
  part: 'µ\n"\\',
  small: -128,
  wide: [0, 2n ** 64n - 1n, 1],
  signed: -(2n ** 63n),
  real: Number.NaN,
  note: 'a\u0000b \ud800',
  wait: [0, 4294967295, 0, 1],
}

/**
 * A source that hands its batches out; their bytes are the caller's. Views know a source by its identity: the next
 * value of a series comes from the same one.
 */
export class BatchSource {
  readonly #source: Source
  #emitted: Batch | undefined

  constructor(options: Partial<SourceOptions> = {}) {
    const emit = (batch: Batch) => {
      this.#emitted = { ...batch, bytes: batch.bytes.slice() }
    }
    this.#source = createOwnSource({ id: 'conformance', bufferBytes: 16 << 20, ...options, emit })
  }

  batch<F extends Fields>(type: RecordType<F>, records: readonly RecordOf<RecordType<F>>[]): Batch {
    this.#emitted = {
      type,
      source: this.#source.info,
      clock: 'wall',
      origin: 'own',
      arrivedMs: performance.now(),
      count: 0,
      bytes: new Uint8Array(0),
      symbols: new TextTable(this.#source.symbols),
    }
    this.#source.report(type, records)
    this.#source.flush()
    return this.#emitted
  }

  /** A batch of ports: bytes received by device. */
  ports(received: Readonly<Record<string, number | bigint>>): Batch {
    const records = Object.entries(received).map(([device, bytes]) => ({
      time: wallNs(),
      device,
      rx_bytes_total: bytes,
    }))
    return this.batch(portType, records)
  }
}

/** The newest value of a u64 field by the label `device`, out of batches: how a view that keeps batches is read. */
export function newestOf(batches: Iterable<Batch>, type: RecordType, field: string): Map<string, bigint> {
  return new Map(valuesOf(batches, type, field))
}

/** The values of a u64 field with the label `device`, out of batches in the order in which they came. */
export function* valuesOf(
  batches: Iterable<Batch>,
  type: RecordType,
  field: string,
): Generator<readonly [device: string, value: bigint]> {
  for (const batch of batches) {
    if (batch.type.fingerprint !== type.fingerprint) continue
    for (const record of readRecords(batch.type, viewsOf(batch.bytes), batch.count, batch.symbols)) {
      const found: unknown = Reflect.get(record, field)
      if (typeof found === 'bigint') yield [String(Reflect.get(record, 'device')), found]
    }
  }
}
