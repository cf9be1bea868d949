import type { EventAnswer, EventLane, IncidentsAnswer, SamplesHeader, TracebackEvent } from '@sonde/sdk/api'
import { eventIncident } from '../../packages/agent/src/incidents/make-incident.ts'

/** The node of generated events. */
export const NODE = 'a-node'

/**
 * What a generated lane does: it is `before` until `changesMs` after the start of the event, and `after` from then on.
 */
interface Shape {
  readonly lane: Omit<EventLane, 'samples' | 'gaps' | 'key'>
  readonly before: number
  readonly after: number
  readonly changesMs: number
  /** How far values wander, as a share of the level. */
  readonly wander: number
  readonly gaps?: readonly { readonly fromMs: number; readonly toMs: number }[]
}

/** An event with the shapes of a PCIe link that trained down, and answers as the API gives them. */
export interface GeneratedEvent {
  readonly event: TracebackEvent
  readonly answer: () => EventAnswer
  readonly samples: (address: URL) => Buffer
}

const BEFORE_MS = 2_000
const AFTER_MS = 4_000
const LASTED_MS = 1_840

/** The lanes of a link that trains down: PCIe changes first, then the NIC, then the GPUs and what runs on them. */
function downtrainShapes(): readonly Shape[] {
  const nic = {
    type: 'doca_diag_sample',
    source: 'doca_diag',
    device: 'mlx5_3',
    deviceName: 'mlx5_3',
    kind: 'nic',
    resolutionMs: 0.1,
    errorMs: 0.05,
  }
  const hw = {
    type: 'rdma_hw',
    source: 'rdma',
    device: 'mlx5_3',
    deviceName: 'mlx5_3',
    kind: 'nic',
    resolutionMs: 10,
    errorMs: 1,
  }
  const pci = {
    type: 'pci_device',
    source: 'pci',
    device: '0000:9a:00.0',
    deviceName: '0000:9a:00.0',
    kind: 'pci',
    resolutionMs: 10,
    errorMs: 1,
  }
  const gpu = {
    type: 'nvml_gpu',
    source: 'nvml',
    device: 'GPU 3',
    deviceName: 'GPU 3',
    kind: 'gpu',
    resolutionMs: 100,
    errorMs: 50,
  }
  const no = { isOfRule: false } as const
  return [
    {
      lane: { ...nic, name: 'Outbound PCIe stalled', unit: 'nanoseconds', role: 'counter', isOfRule: true },
      ...{ before: 2e7, after: 6.4e8, changesMs: -0.3, wander: 0.3 },
      gaps: [{ fromMs: 1_102, toMs: 1_174 }],
    },
    {
      lane: { ...pci, ...no, name: 'Link speed', unit: 'transfers_per_second', role: 'gauge' },
      before: 32e9,
      after: 8e9,
      changesMs: -128,
      wander: 0,
    },
    {
      lane: { ...pci, ...no, name: 'Correctable errors', unit: 'errors', role: 'counter' },
      before: 0,
      after: 420,
      changesMs: -640,
      wander: 0.5,
    },
    {
      lane: { ...nic, ...no, name: 'Sent', unit: 'bytes', role: 'counter' },
      ...{ before: 3.98e10, after: 1.3e10, changesMs: -6.4, wander: 0.12 },
      gaps: [{ fromMs: 1_102, toMs: 1_174 }],
    },
    {
      lane: { ...nic, ...no, name: 'Received', unit: 'bytes', role: 'counter' },
      before: 4.05e10,
      after: 1.36e10,
      changesMs: -6.1,
      wander: 0.1,
    },
    {
      lane: { ...hw, ...no, name: 'Sequence errors', unit: 'packets', role: 'counter' },
      before: 0,
      after: 2_600,
      changesMs: 12,
      wander: 0.2,
    },
    {
      lane: { ...gpu, ...no, name: 'Tensor active', unit: 'ratio', role: 'gauge' },
      before: 0.61,
      after: 0.284,
      changesMs: 350,
      wander: 0.02,
    },
    {
      lane: { ...gpu, ...no, errorMs: 500, name: 'Power', unit: 'watts', role: 'gauge' },
      before: 641,
      after: 546,
      changesMs: 420,
      wander: 0.01,
    },
    {
      lane: { ...gpu, ...no, name: 'Utilisation', unit: 'percent', role: 'gauge' },
      before: 99,
      after: 99.3,
      changesMs: 0,
      wander: 0.005,
    },
    {
      lane: {
        type: 'host_pressure',
        source: 'host',
        device: '',
        deviceName: '',
        kind: '',
        name: 'Tasks wait for I/O',
        unit: 'ratio',
        role: 'gauge',
        resolutionMs: 1_000,
        errorMs: 5,
        isOfRule: false,
      },
      ...{ before: 0.02, after: 0.02, changesMs: 0, wander: 0.1 },
    },
    {
      lane: {
        type: 'training_step',
        source: 'trainer',
        device: 'trainer-0',
        deviceName: 'trainer-0',
        kind: 'pod',
        name: 'Training step',
        unit: 'seconds',
        role: 'value',
        resolutionMs: 250,
        errorMs: 1,
        isOfRule: false,
      },
      ...{ before: 1.21, after: 1.74, changesMs: 620, wander: 0.01 },
    },
  ]
}

/** Lanes that are all as fast, for load: `count` of them with a sample every 100 µs. */
export function loadShapes(count: number): readonly Shape[] {
  const [first] = downtrainShapes()
  return Array.from({ length: count }, (_, place): Shape => {
    const kind = place % 3 === 0 ? 'nic' : place % 3 === 1 ? 'pci' : 'gpu'
    const lane = { ...first!.lane, name: `Signal ${place}`, device: `device ${place % 8}`, kind, isOfRule: place === 0 }
    return { ...first!, lane, changesMs: (place - count / 2) * 3, gaps: [] }
  })
}

/** Makes an event whose window ends at `toMs` for one that is open. */
export function generatedEvent(
  startMs: number,
  more: Partial<TracebackEvent> = {},
  shapes: readonly Shape[] = downtrainShapes(),
  spanMs: { readonly before: number; readonly after: number } = { before: BEFORE_MS, after: AFTER_MS },
): GeneratedEvent {
  const event: TracebackEvent = {
    id: 12,
    rule: 'PCIe stalls',
    condition: 'outbound_pci_stalled_wr rises by more than 4000000 in 100 samples',
    device: 'mlx5_3',
    source: 'doca_diag',
    startMs,
    errorMs: 0.05,
    endMs: startMs + LASTED_MS,
    end: 'cleared',
    window: { fromMs: startMs - spanMs.before, toMs: startMs + spanMs.after },
    samples: 188_420,
    leftOut: 720,
    sizeBytes: 3_250_000,
    isSimulated: false,
    ...more,
  }
  const window = event.window ?? { fromMs: startMs, toMs: startMs }
  const lanes = shapes.map((shape, place): EventLane => {
    const gaps = (shape.gaps ?? [])
      .map(({ fromMs, toMs }) => ({ fromMs: startMs + fromMs, toMs: startMs + toMs }))
      .filter(({ fromMs }) => fromMs < window.toMs)
      .map((gap) => ({ ...gap, samples: Math.round((gap.toMs - gap.fromMs) / shape.lane.resolutionMs) }))
    return {
      ...shape.lane,
      key: `lane-${place}`,
      samples: Math.round((window.toMs - window.fromMs) / shape.lane.resolutionMs),
      gaps,
    }
  })
  const made = shapes.map((shape, order) => makeValues(shape, order, lanes[order]!, startMs, window.fromMs))
  const { id, rule, device, errorMs, endMs } = event
  const start = { event: id, rule, device, atMs: startMs, errorMs, isStart: true }
  const end = endMs === undefined ? [] : [{ ...start, atMs: endMs, isStart: false }]
  const other = {
    event: id - 1,
    rule: 'Retransmissions',
    device: 'mlx5_3',
    atMs: startMs + 240,
    errorMs: 1,
    isStart: true,
  }
  return {
    event,
    answer: () => ({
      node: NODE,
      event,
      parts: [],
      leftOut: [],
      lanes,
      lanesLeftOut: 0,
      lanesKept: lanes.length,
      kinds: [],
      marks: [start, ...end, other],
    }),
    samples: (address) => samplesOf(address, lanes, made, window.fromMs),
  }
}

/** A number between 0 and 1 that is the same for the same place. */
function noise(place: number, lane: number): number {
  let x = Math.imul(place ^ (lane * 0x9e37), 0x85ebca6b)
  x ^= x >>> 13
  x = Math.imul(x, 0xc2b2ae35)
  return ((x ^ (x >>> 16)) >>> 0) / 0x1_0000_0000
}

function valueAt({ before, after, changesMs, wander }: Shape, afterMs: number, place: number, lane: number): number {
  const level = afterMs >= changesMs && afterMs < changesMs + LASTED_MS ? after : before
  return level * (1 + wander * (noise(place, lane) - 0.5))
}

/** Values of a lane by the index of the sample, made at the first request. */
type Values = () => Float64Array

function makeValues(shape: Shape, order: number, lane: EventLane, startMs: number, originMs: number): Values {
  let values: Float64Array | undefined
  return () => {
    values ??= Float64Array.from({ length: lane.samples + 1 }, (_, place) =>
      valueAt(shape, originMs + place * lane.resolutionMs - startMs, place, order),
    )
    return values
  }
}

interface SampleRequest {
  readonly fromMs: number
  readonly toMs: number
  readonly points: number
  readonly originMs: number
}

function samplesOf(address: URL, lanes: readonly EventLane[], values: readonly Values[], originMs: number): Buffer {
  const part = (name: string): number => Number(address.searchParams.get(name))
  const request = { fromMs: part('from'), toMs: part('to'), points: part('points'), originMs }
  const columns: (Float64Array | Float32Array)[] = []
  const add = (column: Float64Array | Float32Array): number => columns.push(column) - 1
  const heads = (address.searchParams.get('lanes') ?? '').split(',').flatMap((key): SamplesHeader['lanes'] => {
    const order = lanes.findIndex((lane) => lane.key === key)
    const lane = lanes[order]
    return lane ? [lanePart(lane, values[order]!(), request, add)] : []
  })
  const kinds = columns.map((column) => ({
    kind: column instanceof Float64Array ? ('f64' as const) : ('f32' as const),
    length: column.length,
  }))
  const { fromMs, toMs, points } = request
  return encode({ fromMs, toMs, points, columns: kinds, lanes: heads }, columns)
}

/** Samples where they are few enough, with a neighbour on each side; else the extremes of equal stretches. */
function lanePart(
  lane: EventLane,
  all: Float64Array,
  { fromMs, toMs, points, originMs }: SampleRequest,
  add: (column: Float64Array | Float32Array) => number,
): SamplesHeader['lanes'][number] {
  const { key, resolutionMs, gaps } = lane
  const first = Math.max(0, Math.ceil((fromMs - originMs) / resolutionMs))
  const last = Math.min(lane.samples, Math.floor((toMs - originMs) / resolutionMs))
  const samples = Math.max(0, last - first + 1)
  const timeOf = (place: number): number => originMs + place * resolutionMs
  const isInGap = (timeMs: number): boolean => gaps.some((gap) => timeMs > gap.fromMs && timeMs < gap.toMs)
  if (samples <= points) {
    const places = Array.from({ length: samples + 2 }, (_, at) => first - 1 + at).filter(
      (place) => place >= 0 && place <= lane.samples && !isInGap(timeOf(place)),
    )
    const times = add(Float64Array.from(places, (place) => timeOf(place) - fromMs))
    const values = add(Float64Array.from(places, (place) => all[place]!))
    return { key, isExact: true, samples, times, lows: values, highs: values }
  }
  const lows = new Float32Array(points).fill(Number.NaN)
  const highs = new Float32Array(points).fill(Number.NaN)
  for (let place = first; place <= last; place++) {
    const timeMs = timeOf(place)
    if (gaps.length > 0 && isInGap(timeMs)) continue
    const at = Math.min(points - 1, Math.floor(((timeMs - fromMs) / (toMs - fromMs)) * points))
    const value = all[place]!
    if (!(lows[at]! <= value)) lows[at] = value
    if (!(highs[at]! >= value)) highs[at] = value
  }
  return { key, isExact: false, samples, lows: add(lows), highs: add(highs) }
}

function encode(header: SamplesHeader, columns: readonly (Float64Array | Float32Array)[]): Buffer {
  const head = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(head.length)
  const parts: Buffer[] = [length, head]
  let offset = 4 + head.length
  for (const column of columns) {
    const zeros = (8 - (offset % 8)) % 8
    parts.push(Buffer.alloc(zeros), Buffer.from(column.buffer as ArrayBuffer))
    offset += zeros + column.byteLength
  }
  return Buffer.concat(parts)
}

/** A list as the API gives it: open events and closed ones, cut ones and truncated ones. */
export function generatedList(nowMs: number, more: Partial<IncidentsAnswer> = {}): IncidentsAnswer {
  const ago = (ms: number): number => nowMs - ms
  const one = generatedEvent(ago(125_000), {
    id: 12,
    endMs: undefined as never,
    end: undefined as never,
    samples: 1_284_000,
    sizeBytes: 14_200_000,
  }).event
  const { endMs: _endMs, end: _end, ...open } = one
  const events: TracebackEvent[] = [
    open,
    {
      ...one,
      id: 11,
      rule: 'Retransmissions',
      condition: 'packet_seq_err rises by 100 or more a second over 50 ms',
      source: 'rdma',
      errorMs: 10,
      startMs: ago(3_600_000),
      endMs: ago(3_598_160),
      end: 'cleared',
      leftOut: 720,
      samples: 1_380_000,
      sizeBytes: 3_250_000,
    },
    { ...one, id: 9, startMs: ago(7_260_000), endMs: ago(7_140_000), end: 'cut', leftOut: 412_000, parts: 2 },
    {
      ...one,
      id: 8,
      device: 'mlx5_0',
      startMs: ago(20_000_000),
      endMs: ago(19_999_999.7),
      end: 'truncated',
      samples: 0,
      sizeBytes: 0,
      leftOut: 184_200,
    },
    {
      ...one,
      id: 7,
      device: 'mlx5_1',
      startMs: ago(90_000_000),
      endMs: ago(89_990_000),
      end: 'stopped',
      leftOut: 0,
      isSimulated: true,
    },
  ]
  const rules = [
    { name: one.rule, condition: one.condition, devices: ['mlx5_0', 'mlx5_1', 'mlx5_3'] },
    {
      name: 'Retransmissions',
      condition: 'packet_seq_err rises by 100 or more a second over 50 ms',
      devices: Array.from({ length: 8 }, (_, place) => `mlx5_${place}`),
    },
  ]
  const incidents = events.map((event) => eventIncident(NODE, event, () => undefined))
  const traceback = { watching: rules, limited: 0, removed: 0 }
  const told = { rules: 27, blind: [], unknown: [], openCount: 1, fromMs: 0, toMs: nowMs }
  return { nowMs, incidents, traceback, ...told, ...more }
}
