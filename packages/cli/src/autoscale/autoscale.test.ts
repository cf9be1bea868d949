import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRooms } from '../config/rooms.ts'
import { driftOf } from './drift.ts'
import { autoscaleObjects, type ScaledObject, serverAddressOf } from './scaled-object.ts'

const CHAT = { app: 'shop', service: 'chat', namespace: 'ml', deployment: 'chat', min: 2, max: 8 }
const GPU = { ...CHAT, trigger: 'gpuUtilization', threshold: 70 }
const QUEUE = { ...CHAT, trigger: 'queue_depth', threshold: 4 }
const LIVE = serverAddressOf('http://prometheus.monitoring.svc:9090/')

/** A ScaledObject that a test changes, as somebody does with kubectl. */
interface Editable {
  metadata: { name: string; namespace: string; labels: Record<string, string> }
  spec: { maxReplicaCount?: number; fallback?: object | undefined; triggers: unknown[] }
}

const editable = (object: ScaledObject) => structuredClone(object) as unknown as Editable
const ask = ({ spec }: Editable, index: number, serverAddress: string) => {
  const { metadata } = spec.triggers[index] as { metadata: Record<string, string> }
  metadata.serverAddress = serverAddress
}

/** The entries of a configuration. */
function entriesOf(autoscale: unknown) {
  const checked = checkRooms({ kubernetes: { autoscale } })
  assert.ok(checked.ok, JSON.stringify(checked))
  return checked.value.config.autoscale
}

const faultsOf = (autoscale: unknown) => {
  const checked = checkRooms({ kubernetes: { autoscale } })
  return checked.ok ? [] : checked.issues.map(({ path, fault, allowed }) => `${path} ${fault}; ${allowed}`)
}

const scaledOf = (autoscale: unknown) => autoscaleObjects(entriesOf(autoscale), LIVE).at(-1) as ScaledObject

test('an entry has either spelling of its trigger; faults between keys and entries have their place', () => {
  assert.equal(entriesOf(GPU)[0]?.trigger, 'gpu_utilization')
  assert.equal(entriesOf([{ ...QUEUE, trigger: 'queueDepth' }])[0]?.trigger, 'queue_depth')
  assert.deepEqual(faultsOf([GPU, QUEUE, { ...GPU, trigger: 'cpu' }]), [])
  const wrong: [unknown, RegExp][] = [
    [{ ...GPU, max: 1 }, /^kubernetes\.autoscale\.max is 1; at least min, which is 2$/],
    ...['http://h:99999', 'http://[::1', 'http://%00', 'http://h/?a=b', 'ftp://h', 'h:9090'].map(
      (prometheusUrl): [unknown, RegExp] => [
        { ...GPU, prometheusUrl },
        /prometheusUrl is .*; http:\/\/HOST:PORT or https:\/\/HOST\/PATH, without a query$/,
      ],
    ),
    [{ ...GPU, min: 0 }, /min is 0; a whole number from 1/],
    [[GPU, { ...QUEUE, max: 9 }], /autoscale\[1\]\.max is 9; 8, as in the other entry of ml\/chat/],
    [
      [GPU, { ...GPU, trigger: 'gpu_utilization' }],
      /\[1\]\.trigger is gpu_utilization; each trigger once for ml\/chat/,
    ],
    [[GPU, { ...QUEUE, deployment: 'other' }], /\[1\]\.service is chat; a name of its own/],
    [{ ...GPU, threshold: 101 }, /threshold is 101; at most 100 percent/],
    [{ ...GPU, trigger: 'gpu' }, /trigger is "gpu"; one of gpu_utilization, gpuUtilization/],
    [{ ...GPU, prometheusUrl: 'http://me:hunter2@p/x?y' }, /prometheusUrl is "http:\/\/\(secret\)@p\/x\?\(secret\)"/],
    [{ ...GPU, metric: 'a"}) or vector(1' }, /metric is .*; the name of a metric/],
  ]
  for (const [autoscale, pattern] of wrong) assert.match(faultsOf(autoscale).join('\n'), pattern)
})

test('the triggers of a Deployment are those of one ScaledObject, which holds its pods while Prometheus has nothing', () => {
  const { metadata, spec } = scaledOf([GPU, QUEUE, { ...CHAT, trigger: 'memory', threshold: 80 }])
  assert.deepEqual([metadata.namespace, metadata.name, spec.scaleTargetRef.name], ['ml', 'chat', 'chat'])
  assert.deepEqual([spec.minReplicaCount, spec.maxReplicaCount], [2, 8])
  assert.deepEqual(spec.fallback, { failureThreshold: 3, replicas: 2, behavior: 'currentReplicasIfHigher' })
  assert.deepEqual(
    spec.triggers.map(({ name, metricType, metadata: { ignoreNullValues = '' } }) => [
      name,
      metricType,
      ignoreNullValues,
    ]),
    [
      ['sonde-gpu-utilization', 'Value', 'false'],
      ['sonde-queue-depth', 'AverageValue', 'false'],
      ['sonde-memory', 'Utilization', ''],
    ],
  )
  assert.equal(scaledOf({ ...CHAT, trigger: 'cpu', threshold: 70 }).spec.fallback, undefined)
})

test('credentials of an address are in no object; KEDA finds them in a Secret', () => {
  const secret = { ...GPU, prometheusUrl: 'https://me:hunter2@metrics.example/p/' }
  const objects = autoscaleObjects(entriesOf([secret, QUEUE]), serverAddressOf('http://me:hunter2@live:9090'))
  assert.doesNotMatch(JSON.stringify(objects), /hunter2|me:/)
  const [first, second, scaled] = objects as [{ metadata: object }, { metadata: object }, ScaledObject]
  assert.deepEqual(first.metadata, { name: 'chat-gpu-utilization', namespace: 'ml' })
  assert.deepEqual(second.metadata, { name: 'sonde-prometheus', namespace: 'ml' })
  assert.deepEqual(
    scaled.spec.triggers.map(({ metadata, authenticationRef }) => [
      ...[metadata.serverAddress, metadata.authModes, authenticationRef?.name],
    ]),
    [
      ['https://metrics.example/p', 'basic', 'chat-gpu-utilization'],
      ['http://live:9090', 'basic', 'sonde-prometheus'],
    ],
  )
})

test('only triggers that follow prometheus_url are stale; what somebody edited is listed apart', () => {
  const made = scaledOf([GPU, QUEUE, { ...CHAT, trigger: 'cpu', threshold: 70 }])
  const rendered = new Map([['ml/chat', made]])
  const driftFor = (change: (copy: Editable) => void, own: readonly string[] = []) => {
    const copy = editable(made)
    change(copy)
    return driftOf(copy, rendered, LIVE?.url, new Set(own))
  }
  assert.equal(
    driftFor((copy) => copy),
    undefined,
  )
  assert.equal(
    driftFor((copy) => ask(copy, 0, 'http://prometheus.monitoring.svc:9090/')),
    undefined,
  )
  const stale = driftFor((copy) => ask(copy, 0, 'http://me:hunter2@old:80'))
  assert.deepEqual(stale?.edited, [])
  assert.deepEqual(stale?.stale, [
    'sonde-gpu-utilization asks http://(secret)@old/, and Prometheus is at http://prometheus.monitoring.svc:9090',
  ])
  // An address of its own, processor, and a trigger of somebody else.
  assert.equal(
    driftFor((copy) => ask(copy, 1, 'http://x'), ['ml/chat sonde-queue-depth']),
    undefined,
  )
  assert.equal(
    driftFor((copy) => ask(copy, 2, 'http://x')),
    undefined,
  )
  const foreign = { type: 'prometheus', name: 'mine', metadata: { serverAddress: 'http://x' } }
  assert.equal(
    driftFor((copy) => copy.spec.triggers.push(foreign)),
    undefined,
  )

  const edited = driftFor((copy) => {
    copy.spec.maxReplicaCount = 50
    delete copy.spec.fallback
    copy.spec.triggers = [
      foreign,
      { ...(copy.spec.triggers[0] as object), metricType: 'AverageValue' },
      null,
      copy.spec.triggers[2],
    ]
  })
  assert.deepEqual(edited?.stale, [])
  assert.deepEqual(edited?.further, ['mine'])
  assert.deepEqual(edited?.edited, [
    'spec.maxReplicaCount is 50, and Sonde writes 8',
    'spec.fallback.failureThreshold is missing, and Sonde writes 3',
    'spec.fallback.replicas is missing, and Sonde writes 2',
    'spec.fallback.behavior is missing, and Sonde writes currentReplicasIfHigher',
    'sonde-gpu-utilization.metricType is AverageValue, and Sonde writes Value',
    'the trigger sonde-queue-depth is missing',
  ])
})

test('an object of another shape, or of somebody else, is not judged', () => {
  const rendered = new Map([['ml/chat', scaledOf(GPU)]])
  for (const found of [null, 7, 'x', [], {}, { metadata: null, spec: { triggers: 5 } }])
    assert.equal(driftOf(found, rendered, LIVE?.url, new Set()), undefined)
  const other = editable(scaledOf(GPU))
  other.metadata = { name: 'web', namespace: 'ml', labels: {} }
  ask(other, 0, 'http://old')
  assert.equal(driftOf(other, rendered, LIVE?.url, new Set()), undefined)
  other.metadata.labels = { 'app.kubernetes.io/managed-by': 'sonde' }
  assert.deepEqual(driftOf(other, rendered, LIVE?.url, new Set())?.isRendered, false)
})

test('names of a hostile cluster are cut, and few are listed', () => {
  const rendered = scaledOf([GPU, QUEUE])
  const found = editable(rendered)
  const long = 'x'.repeat(1_000_000)
  ask(found, 0, `http://${long}/`)
  found.spec.triggers.push(...Array.from({ length: 1000 }, () => ({ type: 'cron', name: long })))
  const known = new Map([['ml/chat', rendered]])
  const drift = driftOf(found, known, LIVE?.url, new Set())
  assert.ok(JSON.stringify(drift).length < 2000, `${JSON.stringify(drift).length}`)
  const labels = { 'app.kubernetes.io/managed-by': 'sonde' }
  const strange = { metadata: { namespace: long, name: long, labels }, spec: found.spec }
  assert.ok(JSON.stringify(driftOf(strange, known, LIVE?.url, new Set())).length < 3000)
})
