import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { ReadRecord, RecordType } from '@sonde/sdk'
import { absenceType } from '@sonde/sdk/internal'
import { testSource } from '../conformance.ts'
import { nvmlDoubtType, nvmlGpuInfoType, nvmlGpuType, nvmlMigType, nvmlProfileType, nvmlXidType } from '../nvml/type.ts'
import { podDeviceType, podInfoType, podShareType } from '../pods/type.ts'
import { gpuSubject } from '../scraping/subjects.ts'
import { fixture, type ServedExporter, serveExporter, withBody } from '../scraping/test-exporter.ts'
import { type ReportedRecord, TestedSource, TestNode } from '../test-node.ts'
import { dataOf } from '../test-records.ts'
import { dcgmExporter } from './dcgm-exporter.ts'
import { DCGM_FIELDS } from './fields.ts'
import { dcgmSeriesType } from './series-type.ts'

const GPU_0 = 'GPU-5b4d2c1e-8f0a-4c7d-9e21-3a6f70d1c201'

const shared = await serveExporter(fixture('mig'))
after(() => shared.close())
testSource(dcgmExporter, {
  options: { addresses: [shared.address] },
  unreported: [nvmlXidType, nvmlDoubtType, podShareType, dcgmSeriesType],
})

interface BroughtUp {
  readonly tested: TestedSource
  readonly exporters: readonly ServedExporter[]
}

async function bringUp(t: TestContext, bodies: readonly string[], options: object = {}): Promise<BroughtUp> {
  const exporters = await Promise.all(bodies.map(serveExporter))
  const addresses = exporters.map(({ address }) => address)
  const tested = new TestedSource(dcgmExporter, new TestNode(t).paths, { addresses, ...options })
  t.after(async () => {
    await tested.source.close()
    for (const exporter of exporters) exporter.close()
  })
  return { tested, exporters }
}

async function scraped(t: TestContext, name: string): Promise<{ tested: TestedSource; taken: ReportedRecord[] }> {
  const { tested } = await bringUp(t, [fixture(name)])
  await tested.source.sample()
  assert.deepEqual(tested.failures, [])
  return { tested, taken: tested.take() }
}

const recordsOf = (taken: readonly ReportedRecord[], type: RecordType): ReadRecord[] =>
  taken.filter((one) => one.type === type).map(({ record }) => record)

const fieldsOf = (records: readonly ReadRecord[], ...fields: string[]): unknown[] =>
  records.map((record) => fields.map((field) => record[field]))

/** Reasons for the absence of a field of a GPU. */
function whyAbsent(taken: readonly ReportedRecord[], field: string): string[] {
  const said = recordsOf(taken, absenceType).filter((record) => record.field === field)
  return said.map(({ code, reason }) => `${code}: ${reason}`)
}

test('GPUs of a node, with all labels, exact counters, and the pods that hold them', async (t) => {
  const { taken } = await scraped(t, 'kubernetes')
  const gpus = recordsOf(taken, nvmlGpuType)
  const [first = {}] = gpus
  assert.deepEqual(
    ['gpu', 'UUID', 'device', 'modelName', 'Hostname', 'pci_bus_id'].map((name) => first[name]),
    ['0', GPU_0, 'nvidia0', 'NVIDIA H100 80GB HBM3', 'gpu-node-a', '00000000:1B:00.0'],
  )
  assert.deepEqual(fieldsOf(gpus, 'gpu_util', 'power_usage', 'total_energy_consumption', 'xid_errors'), [
    [97, 641.337, 9007199254740993n, 0],
    [88, 522.018, 188811223344n, 31],
    [0, 71.294, 71294000n, 0],
  ])
  assert.deepEqual(fieldsOf(gpus, 'fb_used', 'fb_total', 'nvlink_bandwidth_total'), [
    [68963, 81559, 132000n],
    [40783, 81559, 98000n],
    [0, 81559, 0n],
  ])
  assert.equal(nvmlGpuType.fields.nvlink_bandwidth_total.role, 'gauge', 'a rate, though the exporter says counter')
  assert.deepEqual(fieldsOf(recordsOf(taken, nvmlProfileType), 'pipe_tensor_active', 'pcie_tx_bytes', 'sm_active'), [
    [0.512201, 1612345678, undefined],
    [0.498888, 912345678, undefined],
    [0, 2048, undefined],
  ])
  assert.equal(
    whyAbsent(taken, 'sm_active')[0],
    'unsupported: the exporter has no DCGM_FI_PROF_SM_ACTIVE of it; see its list of counters',
  )
  assert.deepEqual(fieldsOf(recordsOf(taken, nvmlGpuInfoType), 'pci_address', 'driver', 'memory_bytes').slice(0, 1), [
    ['0000:1b:00.0', '570.124.06', 81559n * 2n ** 20n],
  ])
  const via = 'scrape labels of dcgm-exporter'
  assert.deepEqual(
    fieldsOf(recordsOf(taken, podDeviceType), 'namespace', 'pod', 'container', 'UUID', 'GPU_I_ID', 'Hostname', 'via'),
    [
      ['inference', 'llama-7d9c-x2x4p', 'server', GPU_0, '', 'gpu-node-a', via],
      ['training', 'trainer-0', 'worker', gpus[1]?.UUID, '', 'gpu-node-a', via],
    ],
  )
  assert.deepEqual(fieldsOf(recordsOf(taken, podInfoType), 'pod', 'app', 'service', 'node_name'), [
    ['llama-7d9c-x2x4p', 'llama', 'chat', 'gpu-node-a'],
    ['trainer-0', 'trainer', '', 'gpu-node-a'],
  ])
})

test('labels and names of old exporters and of DCGM 4.6 come to the same fields', async (t) => {
  const old = await scraped(t, 'old-labels')
  const names = ['UUID', 'Hostname', 'gpu_util', 'clocks_event_reasons'] as const
  assert.deepEqual(fieldsOf(recordsOf(old.taken, nvmlGpuType), ...names)[0], [GPU_0, 'gpu-node-b', 97, 4])
  assert.deepEqual(fieldsOf(recordsOf(old.taken, podDeviceType), 'namespace', 'pod', 'container'), [
    ['research', 'bert-0', 'train'],
  ])
  const fresh = await scraped(t, 'new-names')
  const fields = ['Hostname', 'gpu_util', 'power_usage', 'gpu_temp', 'memory_temp', 'pcie_replay_counter', 'xid_errors']
  const more = ['uncorrectable_remapped_rows', 'nvlink_crc_flit_error_count_total']
  const records = recordsOf(fresh.taken, nvmlGpuType)
  assert.deepEqual(fieldsOf(records, ...fields, ...more)[1], ['gpu-node-c', 88, 522.018, 58, 68, 3n, 31, 1n, 0n])
  const profiles = recordsOf(fresh.taken, nvmlProfileType)
  assert.deepEqual(
    fieldsOf(profiles, 'sm_active', 'pipe_tensor_active', 'pipe_fp16_active')[0],
    [0.801, 0.512201, 0.01],
  )
  const info = recordsOf(fresh.taken, nvmlGpuInfoType)
  assert.deepEqual(fieldsOf(info, 'driver', 'serial')[1], ['580.65.06', '16533230411'])
})

test('no number and no name of DCGM stands for two fields', () => {
  const names = DCGM_FIELDS.flatMap((field) => field.names)
  assert.equal(new Set(names).size, names.length)
  assert.equal(new Set(DCGM_FIELDS.map(({ id }) => id)).size, DCGM_FIELDS.length)
})

test('MIG: instances have their own values, and what is copied to them is that of the board, once', async (t) => {
  const { taken } = await scraped(t, 'mig')
  assert.deepEqual(
    fieldsOf(recordsOf(taken, nvmlMigType), 'GPU_I_ID', 'GPU_I_PROFILE', 'fb_used', 'fb_total', 'pipe_tensor_active'),
    [
      [1, '3g.40gb', 20210, 40290, 0.41],
      [2, '1g.10gb', 5605, 9626, 0.11],
    ],
  )
  const fields = ['power_usage', 'total_energy_consumption', 'gpu_temp', 'gpu_util', 'fb_used']
  assert.deepEqual(fieldsOf(recordsOf(taken, nvmlGpuType), ...fields), [
    [401.5, 188811223344n, 63, undefined, undefined],
  ])
  assert.deepEqual(fieldsOf(recordsOf(taken, podDeviceType), 'pod', 'GPU_I_ID'), [
    ['segment-a', '1'],
    ['segment-b', '2'],
  ])
})

test('a shared GPU is one, with the values of the device, and held by each of its pods', async (t) => {
  const { taken } = await scraped(t, 'time-slicing')
  const fields = ['gpu_util', 'fb_used', 'power_usage', 'fb_total']
  assert.deepEqual(fieldsOf(recordsOf(taken, nvmlGpuType), ...fields), [[90, 40000, 300.25, 80565]])
  assert.deepEqual(fieldsOf(recordsOf(taken, podDeviceType), 'pod', 'UUID'), [
    ['notebook-0', GPU_0],
    ['notebook-1', GPU_0],
  ])
})

test('jobs of a batch system hold GPUs too, with the values of the device', async (t) => {
  const body = fixture('time-slicing')
    .replaceAll('container="c",namespace="shared",pod="notebook-0"', 'hpc_job="4711"')
    .replaceAll('container="c",namespace="shared",pod="notebook-1"', 'hpc_job="4712"')
  const { tested } = await bringUp(t, [body])
  await tested.source.sample()
  const taken = tested.take()
  const devices = new Set(fieldsOf(recordsOf(taken, podDeviceType), 'namespace', 'pod', 'via').map(String))
  assert.deepEqual([...devices], ['@job,4711,hpc_job of dcgm-exporter', '@job,4712,hpc_job of dcgm-exporter'])
  assert.deepEqual(fieldsOf(recordsOf(taken, podInfoType), 'pod', 'app')[0], ['4711', 'job'])
  assert.deepEqual(recordsOf(taken, podShareType), [])
})

test('behind a Prometheus that renamed labels, the pod is the workload and never the exporter', async (t) => {
  const { taken } = await scraped(t, 'renamed')
  assert.equal(recordsOf(taken, nvmlGpuType).length, 2)
  assert.deepEqual(fieldsOf(recordsOf(taken, podDeviceType), 'namespace', 'pod', 'container'), [
    ['inference', 'llama-7d9c-x2x4p', 'server'],
  ])
})

test('values that mean none are absent with what DCGM says, and never a number', async (t) => {
  const { taken } = await scraped(t, 'sentinels')
  const present = recordsOf(taken, nvmlGpuType).map((record) =>
    Object.entries(record).filter(
      ([name, value]) => value !== undefined && typeof value !== 'string' && name !== 'time',
    ),
  )
  // A counter may have a value that is a blank for gauges.
  assert.deepEqual(present, [
    [
      ['sm_clock', 1755],
      ['pcie_replay_counter', 2147483632n],
    ],
  ])
  assert.deepEqual(whyAbsent(taken, 'gpu_temp'), ['unsupported: DCGM says that the GPU does not support it'])
  assert.deepEqual(whyAbsent(taken, 'memory_temp'), ['unsupported: DCGM says that the GPU does not support it'])
  assert.deepEqual(whyAbsent(taken, 'power_usage'), ['unsupported: DCGM says that the GPU does not support it'])
  assert.deepEqual(whyAbsent(taken, 'total_energy_consumption'), ['denied: DCGM may not read it'])
  assert.deepEqual(whyAbsent(taken, 'gpu_util'), ['failed: DCGM has no value'])
  assert.deepEqual(whyAbsent(taken, 'mem_copy_util'), [
    'failed: 4711 % was reported, which is impossible: a percentage is at most 100 %',
  ])
  assert.deepEqual(whyAbsent(taken, 'sm_active'), ['failed: NaN was reported'])
  assert.equal(recordsOf(taken, nvmlProfileType)[0]?.gr_engine_active, undefined)
})

const BODY = `${fixture('kubernetes')}DCGM_FI_DEV_POWER_USAGE{gpu="7",UUID="GPU-cut",Hostname="gpu-node-a"} 690.123\n# EOF\n`
const OPENMETRICS = { 'content-type': 'application/openmetrics-text; version=1.0.0' }

/** A body that is cut after some characters of its last occurrence of a text. */
const cutIn = (text: string, characters: number): string => BODY.slice(0, BODY.lastIndexOf(text) + characters)

/** Answers as HTTP/1.0 does: the body ends when the connection ends. */
function withRest(headers: Readonly<Record<string, string>>, body: string | Buffer): ServedExporter['answer'] {
  return ({ socket }) => {
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`HTTP/1.0 200 OK\r\n${head.join('')}\r\n`)
    socket.end(body)
  }
}

const BAD: readonly (readonly [name: string, answer: ServedExporter['answer'], reason: RegExp])[] = [
  ['an error', (_, response) => void response.writeHead(500).end('internal server error'), /answers 500/],
  ['an empty body', withBody(''), /without a series/],
  ['comments alone', withBody('# HELP a b\n'), /without a series/],
  ['another exporter', withBody('node_load1 0.5\n'), /without a series of a GPU/],
  ['noise', withBody(Buffer.from(Array.from({ length: 9000 }, (_, i) => ((i + 1) * 7919) % 256))), /cut off/],
  [
    'a redirect elsewhere',
    (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/secret' }).end(),
    /redirects to "http:\/\/127.0.0.1:1\/secret", which is not followed/,
  ],
  ['a hang-up', (request) => void request.socket.destroy(), /does not answer/],
  [
    'an answer that ends too early',
    (_, response) => {
      response.writeHead(200, { 'content-length': '100000' })
      response.write(fixture('kubernetes'), () => response.destroy())
    },
    /ended its answer in the middle/,
  ],
  [
    'an answer in chunks of which the last is missing',
    (_, response) => {
      response.writeHead(200)
      response.write(fixture('kubernetes'), () => response.destroy())
    },
    /ended its answer in the middle/,
  ],
  // "69" of 690.123 is a valid but wrong number, and without a length the cut is not visible.
  ['an answer without a length that is cut in a number', withRest({}, cutIn('690.123', 2)), /cut off: its last line/],
  [
    'an answer whose length is too small',
    withRest({ 'content-length': '1000' }, fixture('kubernetes')),
    /in the middle|cut off/,
  ],
  [
    'an answer whose length ends with a line before its last',
    withRest({ 'content-length': String(fixture('kubernetes').indexOf('\n') + 1) }, fixture('kubernetes')),
    /ended its answer in the middle/,
  ],
  ['OpenMetrics without # EOF', withRest(OPENMETRICS, cutIn('\n# EOF\n', 1)), /cut off: it has no # EOF/],
  ['OpenMetrics that is cut in its # EOF', withRest(OPENMETRICS, cutIn('# EOF\n', 4)), /cut off: it has no # EOF/],
  [
    'a gzip that is cut short',
    withRest({ 'content-encoding': 'gzip' }, gzipSync(BODY).subarray(0, 900)),
    /packed as "gzip"/,
  ],
  [
    'an answer that says that it has 3 GB',
    (_, response) => void response.writeHead(200, { 'content-length': String(3 * 2 ** 30) }).write('a 1\n'),
    /more than 100000 bytes/,
  ],
  [
    'an answer without an end',
    (_, response) => {
      const more = () => void (response.destroyed || response.write('a'.repeat(10_000), () => setImmediate(more)))
      more()
    },
    /more than 100000 bytes/,
  ],
  ['silence', () => undefined, /no whole answer within 300 ms/],
  [
    'an answer that stops halfway',
    (_, response) => void response.writeHead(200).write(fixture('kubernetes')),
    /no whole answer within 300 ms/,
  ],
]

test('XID errors are counted by number as the last one changes, and no more once the GPU is gone', async (t) => {
  const body = fixture('kubernetes')
  const told = (xid: number) => body.replace(/^(DCGM_FI_DEV_XID_ERRORS\{gpu="0".*\}) \d+$/m, `$1 ${xid}`)
  const { tested, exporters } = await bringUp(t, [body])
  const [exporter] = exporters as [ServedExporter]
  const counts = async () => {
    await tested.source.sample()
    return fieldsOf(recordsOf(tested.take(), nvmlXidType), 'gpu', 'xid', 'events_total')
  }
  // The value of the first scrape is from before the start, so it is not counted.
  assert.deepEqual(await counts(), [['1', 31, 1n]])
  for (const [xid, expected] of [
    [79, [['0', 79, 1n]]],
    [79, [['0', 79, 1n]]],
    [
      48,
      [
        ['0', 79, 1n],
        ['0', 48, 1n],
      ],
    ],
    [
      79,
      [
        ['0', 79, 2n],
        ['0', 48, 1n],
      ],
    ],
  ] as const) {
    exporter.answer = withBody(told(xid))
    const seen = await counts()
    assert.deepEqual(new Set(seen.map(String)), new Set([['1', 31, 1n], ...expected].map(String)), String(xid))
  }
  exporter.answer = withBody(body.replaceAll(/^DCGM_.*gpu="0".*\n/gm, ''))
  assert.deepEqual(await counts(), [['1', 31, 1n]])
})

test('after anything but a whole answer the GPUs are not known, with the reason, until one comes', async (t) => {
  const body = fixture('kubernetes')
  const { tested, exporters } = await bringUp(t, [body], { timeout_ms: 300, max_bytes: 100_000 })
  const [exporter] = exporters as [ServedExporter]
  for (const [name, answer, reason] of BAD) {
    exporter.answer = withBody(body)
    await tested.source.sample()
    assert.equal(recordsOf(tested.take(), nvmlGpuType).length, 3, `before ${name}`)
    exporter.answer = answer
    await assert.rejects(tested.source.sample(), { code: 'SRC_SCRAPE', message: reason }, name)
    const taken = tested.take()
    assert.deepEqual(dataOf(taken), [], name)
    const told = recordsOf(taken, absenceType).filter(({ type, field, code }) => {
      return type === 'nvml_gpu' && field === '' && code === 'failed'
    })
    assert.equal(told.length, 3, name)
    assert.match(String(told[0]?.reason), reason, name)
    assert.equal((await tested.source.probe()).state, 'absent', name)
  }
  exporter.answer = withBody(body)
  await tested.source.sample()
  tested.take()
  assert.deepEqual(
    [...tested.absent.keys()].filter((key) => key.endsWith('}.')),
    [],
    'all is known again',
  )
})

test('one exporter that hangs costs its own GPUs alone', async (t) => {
  const bodies = ['a', 'y', 'z'].map((node) =>
    fixture('kubernetes').replaceAll('gpu-node-a', `gpu-node-${node}`).replaceAll('GPU-', `GPU-${node}`),
  )
  const { tested, exporters } = await bringUp(t, bodies, { timeout_ms: 300 })
  const [hung] = exporters as [ServedExporter]
  hung.answer = () => undefined
  assert.equal((await tested.source.probe()).state, 'present', 'one of them tells of GPUs')
  await tested.source.sample()
  assert.equal(tested.thrown.length, 1)
  const hosts = fieldsOf(recordsOf(tested.take(), nvmlGpuType), 'Hostname').flat()
  assert.deepEqual([...new Set(hosts)], ['gpu-node-y', 'gpu-node-z'])
})

/** A body of another exporter that claims GPU 0 of gpu-node-a by some of its keys, and a pod. */
function forged(labels: Readonly<Record<string, string>>): string {
  const all = { gpu: '7', UUID: 'GPU-forged', Hostname: 'gpu-node-z', pci_bus_id: '00000000:E1:00.0', ...labels }
  const pod = { namespace: 'inference', pod: 'llama-forged', container: 'c', app: 'llama' }
  const written = Object.entries({ ...all, ...pod }).map(([name, value]) => `${name}="${value}"`)
  return `DCGM_FI_DEV_GPU_UTIL{${written.join(',')}} 1\n`
}

const FAILS: ServedExporter['answer'] = (_, response) => void response.writeHead(500).end()

/** Disputed subjects in the status of a target, with their holders. */
async function disputesOf(tested: TestedSource, address: string): Promise<string[]> {
  const status = (await tested.targets()).find(({ target }) => target === address)
  assert.equal(status?.disputes.length, status?.disputeCount)
  return status?.disputes.map(({ subject, key, holder }) => `${subject}: ${holder} has ${key}`) ?? []
}

test('a claim covers every key by which a GPU is merged; who comes second is refused, counted and told', async (t) => {
  const { tested, exporters } = await bringUp(t, [fixture('kubernetes'), forged({})])
  const [first, second] = exporters as [ServedExporter, ServedExporter]
  await tested.source.sample()
  assert.equal(recordsOf(tested.take(), nvmlGpuType).length, 4, 'on a node of its own it is believed')
  const own = ['gpu-node-a', '00000000:1B:00.0'] as const
  for (const [labels, key] of [
    [{ UUID: GPU_0, Hostname: own[0] }, `GPU ${GPU_0} of gpu-node-a`],
    [{ gpu: '0', Hostname: own[0], pci_bus_id: own[1] }, 'node gpu-node-a'],
    [{ Hostname: own[0], gpu: '', pci_bus_id: '' }, 'node gpu-node-a'],
  ] as const) {
    tested.dropped.clear()
    second.answer = withBody(forged(labels))
    await tested.source.sample()
    const taken = tested.take()
    const name = `GPU ${'UUID' in labels ? labels.UUID : 'GPU-forged'} of gpu-node-a`
    assert.deepEqual(await disputesOf(tested, second.address), [`${name}: ${first.address} has ${key}`])
    assert.equal(recordsOf(taken, nvmlGpuType).length, 3)
    assert.ok(!recordsOf(taken, podInfoType).some(({ pod }) => pod === 'llama-forged'), 'no pod comes with it')
    assert.equal(tested.dropped.get('claimed'), 1)
    assert.match(tested.failures.at(-1)?.message ?? '', /tells of what another tells of, which is not taken/)
  }
  assert.deepEqual(await disputesOf(tested, first.address), [])
  second.answer = withBody(forged({}))
  await tested.source.sample()
  assert.deepEqual(await disputesOf(tested, second.address), [], 'a dispute ends with what it is about')
})

test('a claim survives three misses; whoever stands in then gives way when its first holder answers again', async (t) => {
  const body = fixture('kubernetes')
  const standIn = body.replace(/^(DCGM_FI_DEV_GPU_UTIL\{.*\}) .*$/gm, '$1 1')
  const { tested, exporters } = await bringUp(t, [body, standIn])
  const [first, second] = exporters as [ServedExporter, ServedExporter]
  const utils = async () => {
    await tested.source.sample().catch(() => undefined)
    return fieldsOf(recordsOf(tested.take(), nvmlGpuType), 'gpu_util').flat()
  }
  for (const round of [1, 2]) {
    assert.deepEqual(await utils(), [97, 88, 0], `the first of round ${round}`)
    assert.equal((await disputesOf(tested, second.address)).length, 3, 'three GPUs')
    first.answer = FAILS
    for (const miss of [1, 2, 3]) assert.deepEqual(await utils(), [], `miss ${miss} of round ${round}`)
    assert.deepEqual(await utils(), [1, 1, 1], `the stand-in of round ${round}`)
    assert.deepEqual(await disputesOf(tested, second.address), [])
    first.answer = withBody(body)
  }
  await utils()
  first.answer = FAILS
  await utils()
  first.answer = withBody(body)
  assert.deepEqual(await utils(), [97, 88, 0], 'one missed scrape changes nothing')
})

test('a pod that moves is that of its new node at once', async (t) => {
  const other = fixture('kubernetes').replaceAll('gpu-node-a', 'gpu-node-z').replaceAll('GPU-', 'GPU-z')
  const without = (body: string) => body.replaceAll(/^.*pod="trainer-0".*\n/gm, '')
  const { tested, exporters } = await bringUp(t, [fixture('kubernetes'), without(other).replaceAll('llama', 'other')])
  const [first, second] = exporters as [ServedExporter, ServedExporter]
  await tested.source.sample()
  first.answer = withBody(without(fixture('kubernetes')))
  second.answer = withBody(other.replaceAll('llama', 'other'))
  await tested.source.sample()
  tested.take()
  await tested.source.sample()
  const devices = recordsOf(tested.take(), podDeviceType).filter(({ pod }) => pod === 'trainer-0')
  assert.deepEqual(fieldsOf(devices, 'Hostname'), [['gpu-node-z']])
})

test('sources that read the hardware hold their GPUs, whoever came first', async (t) => {
  const { tested, exporters } = await bringUp(t, [fixture('kubernetes')])
  const [exporter] = exporters as [ServedExporter]
  await tested.source.sample()
  tested.take()
  const subject = gpuSubject({ UUID: GPU_0, Hostname: 'gpu-node-a', gpu: '0', pci_bus_id: '00000000:1b:00.0' })
  const hold = subject.keys.map((key) => ({ key, holder: 'nvml', isTaken: false }))
  await tested.command({ hold })
  await tested.source.sample()
  const taken = tested.take()
  assert.deepEqual(fieldsOf(recordsOf(taken, nvmlGpuType), 'UUID'), [[GPU_0]], 'told of what nvml knows, and no more')
  const gone = recordsOf(taken, absenceType).filter(({ code, field }) => code === 'gone' && field === '')
  assert.ok(gone.some(({ reason }) => reason === 'nvml tells of it now'))
  assert.equal((await disputesOf(tested, exporter.address)).length, 2)
  await assert.rejects(tested.command({ hold: [{ key: 1 }] }), { code: 'AGT_COMMAND' })
})

test('work for more than max_cpu_ms is refused as a whole; its exporter rests, and the others go on', async (t) => {
  const { tested, exporters } = await bringUp(t, [fixture('kubernetes'), ''], { max_cpu_ms: 100 })
  const [, greedy] = exporters as [ServedExporter, ServedExporter]
  const line = (i: number) => `DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="many-${i}",Hostname="crowd"} 5\n`
  greedy.answer = withBody(Array.from({ length: 100_000 }, (_, i) => line(i)).join(''))
  const sample = () => tested.source.sample().catch(() => undefined)
  await sample()
  assert.equal(recordsOf(tested.take(), nvmlGpuType).length, 3)
  const status = async () => (await tested.targets()).find(({ target }) => target === greedy.address)
  assert.deepEqual([(await status())?.state, (await status())?.refused], ['stopped', { cpu_time: 1 }])
  assert.match(
    (await status())?.reason ?? '',
    /more than 100 ms of processor time, which max_cpu_ms allows: it is refused/,
  )
  await sample()
  assert.equal(greedy.requests, 1, 'it is not asked while it rests')
})

test('two nodes with the same indexes are two', async (t) => {
  const other = fixture('kubernetes').replaceAll('gpu-node-a', 'gpu-node-z').replaceAll('GPU-', 'GPU-z')
  const { tested } = await bringUp(t, [fixture('kubernetes'), other])
  await tested.source.sample()
  const names = fieldsOf(recordsOf(tested.take(), nvmlGpuType), 'Hostname', 'UUID').map(String)
  assert.equal(new Set(names).size, 6)
})

test('a GPU and a pod that the exporter tells of no more have left, and come back', async (t) => {
  const body = fixture('kubernetes')
  const { tested, exporters } = await bringUp(t, [body])
  const [exporter] = exporters as [ServedExporter]
  await tested.source.sample()
  tested.take()
  exporter.answer = withBody(
    body
      .split('\n')
      .filter((line) => !line.includes('nvidia0'))
      .join('\n'),
  )
  await tested.source.sample()
  const taken = tested.take()
  const gone = recordsOf(taken, absenceType).filter(({ code, field }) => code === 'gone' && field === '')
  assert.deepEqual(gone.map(({ type }) => type).sort(), [
    'nvml_gpu',
    'nvml_gpu_info',
    'nvml_profile',
    'pod_device',
    'pod_info',
  ])
  assert.equal(recordsOf(taken, nvmlGpuType).length, 2)
  exporter.answer = withBody(body)
  await tested.source.sample()
  assert.equal(recordsOf(tested.take(), nvmlGpuType).length, 3)
})

test('lines that are wrong are counted with the first of them, and the others are read', async (t) => {
  const { tested } = await bringUp(t, [`${fixture('kubernetes')}broken{ 1\n`])
  await tested.source.sample()
  assert.equal(recordsOf(tested.take(), nvmlGpuType).length, 3)
  assert.match(tested.failures[0]?.message ?? '', /has lines that are wrong \(1 labels\), the first is line \d+/)
})

test('a sample that bears its own time keeps it', async (t) => {
  const timed = fixture('kubernetes').replace(/^(DCGM.*)$/gm, '$1 1767225600123')
  const { tested } = await bringUp(t, [timed])
  const [record] = await tested.sampleOf(nvmlGpuType)
  assert.equal(record?.time, 1767225600123000000n)
})

test('exporters are those of a discovery file, as it is now; one that is broken changes nothing', async (t) => {
  const exporters = await Promise.all([fixture('kubernetes'), fixture('new-names')].map(serveExporter))
  const node = new TestNode(t)
  const path = join(node.root, 'targets.json')
  const list = (...listed: ServedExporter[]) => {
    const targets = listed.map(({ address }) => new URL(address).host)
    writeFileSync(path, JSON.stringify([{ targets, labels: { __metrics_path__: '/metrics', zone: 'a' } }]))
  }
  list(exporters[0] as ServedExporter)
  const tested = new TestedSource(dcgmExporter, node.paths, { discovery_file: path })
  t.after(async () => {
    await tested.source.close()
    for (const exporter of exporters) exporter.close()
  })
  assert.equal((await tested.source.probe()).state, 'present')
  const hostsOf = async () => {
    await tested.source.sample()
    const taken = tested.take()
    const gone = recordsOf(taken, absenceType).filter(({ type, code }) => type === 'nvml_gpu' && code === 'gone')
    return { hosts: new Set(fieldsOf(recordsOf(taken, nvmlGpuType), 'Hostname').flat()), gone: gone.length }
  }
  assert.deepEqual(await hostsOf(), { hosts: new Set(['gpu-node-a']), gone: 0 })
  list(...exporters)
  assert.deepEqual(await hostsOf(), { hosts: new Set(['gpu-node-a', 'gpu-node-c']), gone: 0 })
  for (const broken of ['{', '{}', '[{"targets":["a/b@c"]}]', '[{"targets":[7]}]', '[7]']) {
    writeFileSync(path, broken)
    assert.equal((await hostsOf()).hosts.size, 2, broken)
    assert.match(tested.failures.at(-1)?.message ?? '', /targets\.json/)
  }
  list(exporters[1] as ServedExporter)
  assert.deepEqual(await hostsOf(), { hosts: new Set(['gpu-node-c']), gone: 3 })
})

test('a discovery file may be a link, as Kubernetes mounts it; a look says why none can be read', async (t) => {
  const exporter = await serveExporter(fixture('kubernetes'))
  t.after(() => exporter.close())
  const node = new TestNode(t)
  const path = join(node.root, 'targets.json')
  const tested = new TestedSource(dcgmExporter, node.paths, { discovery_file: path })
  t.after(() => tested.source.close())
  const missing = await tested.source.probe()
  assert.match(missing.state === 'present' ? '' : missing.reason, /targets\.json cannot be read: .*ENOENT/)
  mkdirSync(join(node.root, '..data'))
  writeFileSync(
    join(node.root, '..data', 'targets.json'),
    JSON.stringify([{ targets: [new URL(exporter.address).host] }]),
  )
  symlinkSync(join('..data', 'targets.json'), path)
  assert.deepEqual(await tested.source.probe(), { state: 'present', found: '1 exporter' })
})

test('a look says which exporters do not answer, and does not wait for one that hangs', async (t) => {
  const { tested, exporters } = await bringUp(t, [fixture('kubernetes'), fixture('mig'), fixture('mig')])
  const found = async () => {
    const probe = await tested.source.probe()
    return probe.state === 'present' ? probe.found : probe.reason
  }
  assert.equal(await found(), '3 exporters')
  const [, failing, hanging] = exporters as [ServedExporter, ServedExporter, ServedExporter]
  failing.answer = (_, response) => void response.writeHead(500).end()
  const why = `${failing.address} answers 500: the state of its devices is unknown`
  assert.equal(await found(), `2 of 3 exporters; ${why}`)
  hanging.answer = () => undefined
  assert.equal(await found(), `1 of 3 exporters; ${why}, and 1 more`)
})

test('a time that no record holds is none, and costs no value', async (t) => {
  for (const time of ['9223372036854775807', '9007199254740000', '-9007199254740000']) {
    const { tested } = await bringUp(t, [fixture('kubernetes').replace(/^(DCGM.*)$/gm, `$1 ${time}`)])
    await tested.source.sample()
    const [first] = recordsOf(tested.take(), nvmlGpuType)
    const apartMs = Math.abs(Date.now() - Number(BigInt(first?.time as bigint) / 1_000_000n))
    assert.ok(apartMs < 60_000, `${time}: ${apartMs}`)
  }
})

test('readings at 0 that others of the same scrape contradict are absent, with the reason, and counted', async (t) => {
  const labels = `gpu="0",UUID="${GPU_0}",device="nvidia0",modelName="H100",Hostname="node-a"`
  const bodyOf = (values: Readonly<Record<string, number>>) =>
    Object.entries(values)
      .map(([name, value]) => `DCGM_FI_${name}{${labels}} ${value}\n`)
      .join('')
  const work = { DEV_GPU_UTIL: 99, DEV_POWER_USAGE: 690.5 }
  const zero = { PROF_GR_ENGINE_ACTIVE: 0, PROF_SM_ACTIVE: 0, PROF_PIPE_TENSOR_ACTIVE: 0 }
  const links = { PROF_NVLINK_TX_BYTES: 4e9, PROF_NVLINK_RX_BYTES: 4e9 }
  const { tested, exporters } = await bringUp(t, [bodyOf({ ...work, ...zero })])
  const scrape = async (values: Readonly<Record<string, number>>) => {
    const [exporter] = exporters
    if (exporter !== undefined) exporter.answer = withBody(bodyOf(values))
    await tested.source.sample()
    assert.deepEqual(tested.failures, [])
    const taken = tested.take()
    return {
      profile: fieldsOf(recordsOf(taken, nvmlProfileType), 'sm_active', 'pipe_tensor_active')[0],
      doubts: fieldsOf(recordsOf(taken, nvmlDoubtType), 'doubt', 'readings'),
      taken,
    }
  }
  const standing = await scrape({ ...work, ...zero })
  assert.deepEqual(standing.profile, [undefined, undefined])
  assert.deepEqual(standing.doubts, [['profiling', 3]])
  assert.match(whyAbsent(standing.taken, 'sm_active')[0] ?? '', /^failed: stays at 0 .*NVIDIA\/dcgm-exporter#662/)
  const believed = [
    { ...zero, DEV_GPU_UTIL: 0, DEV_POWER_USAGE: 70 },
    { ...zero, ...work, DEV_POWER_USAGE: 70 },
    { ...zero, ...work, PROF_GR_ENGINE_ACTIVE: 0.01 },
    { ...zero, DEV_POWER_USAGE: 690 },
  ]
  for (const values of believed) {
    const { profile, doubts } = await scrape(values)
    assert.deepEqual([profile, doubts], [[0, 0], []], JSON.stringify(values))
  }
  const noTensor = await scrape({ ...work, ...zero, PROF_SM_ACTIVE: 0.9 })
  assert.deepEqual([noTensor.profile, noTensor.doubts], [[0.9, 0], []])
  const ofLinks = await scrape({ ...work, ...links, DEV_NVLINK_BANDWIDTH_TOTAL: 0 })
  assert.deepEqual(ofLinks.doubts, [['nvlink', 1]])
  assert.deepEqual(fieldsOf(recordsOf(ofLinks.taken, nvmlGpuType), 'nvlink_bandwidth_total'), [[undefined]])
  const alone = await scrape({ ...work, DEV_NVLINK_BANDWIDTH_TOTAL: 0 })
  assert.deepEqual(fieldsOf(recordsOf(alone.taken, nvmlGpuType), 'nvlink_bandwidth_total'), [[0n]])
  assert.deepEqual(alone.doubts, [], 'a throughput of 0 without a second reading is what an idle link has')
})
