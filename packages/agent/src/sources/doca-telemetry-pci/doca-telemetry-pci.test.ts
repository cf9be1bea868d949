import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { RecordType } from '@sonde/sdk'
import { needs } from '../../../../../test/debian.ts'
import { DocaDouble, type DoubleDevice } from '../../../../../test/doubles/doca/doca-double.ts'
import { testSource } from '../conformance.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { docaTelemetryPci } from './doca-telemetry-pci.ts'
import { docaPciType } from './type.ts'

const NEEDS = needs('cc')
/** As many buckets as the type of the registry needs. */
const MANY_BUCKETS = { pci_buckets: 2048, pci_bucket_ns: 250 }

const suite = NEEDS.skip === false ? new DocaDouble({ after }) : undefined
suite?.play({ mlx5_0: { facts: MANY_BUCKETS } })

testSource(docaTelemetryPci, { ...NEEDS, paths: { doca_library: suite?.folder ?? '' } })

/** Reads a device of a double whose clock stands still at its start. */
function bringUp(t: TestContext, device: DoubleDevice = {}, options: object = {}) {
  const double = new DocaDouble(t)
  double.play({ mlx5_0: device })
  double.setElapsed(0n)
  const paths = { ...new TestNode(t).paths, doca_library: double.folder }
  const tested = new TestedSource(docaTelemetryPci, paths, options)
  t.after(() => tested.source.close())
  const link = async () => (await tested.sampleOf(docaPciType))[0] ?? assert.fail('no record')
  const reasonOf = (field: string) => tested.absent.get(`doca_pci{rdma_device="mlx5_0"}.${field}`)
  /** The histogram: its type, and the counts of its buckets. */
  const latency = async () => {
    await tested.source.sample()
    const found = tested.take().find(({ type }) => type.name === 'doca_pci_latency')
    return found === undefined
      ? undefined
      : { edges: edgesOf(found.type), counts: Array.from(found.record.seconds as bigint[]) }
  }
  return { double, tested, link, reasonOf, latency }
}

function edgesOf({ fields }: RecordType): readonly number[] {
  return (fields.seconds as unknown as { readonly edges: readonly number[] }).edges
}

test('a healthy link has its state, its counters and no invented value', NEEDS, async (t) => {
  const { link, reasonOf } = bringUp(t)
  const { time: _, ...record } = await link()
  assert.deepEqual(record, {
    rdma_device: 'mlx5_0',
    place: '0.0.0',
    link_generation: 5,
    link_generation_enabled: 5,
    link_peer_generation_max: 5,
    link_width_lanes: 16,
    link_width_enabled_lanes: 16,
    max_payload_bytes: 256,
    max_read_request_bytes: 512,
    power_limit_watts: 75,
    physical_functions: 2,
    virtual_functions: 8,
    overflow_packets_total: 3n,
    overflow_marked_packets_total: 0n,
    rx_errors_total: 2n,
    tx_errors_total: 0n,
    crc_dllp_errors_total: 0n,
    crc_tlp_errors_total: 0n,
    l0_to_recovery_total: 0n,
    fec_correctable_errors_total: 0n,
    fec_uncorrectable_errors_total: 0n,
    outbound_stalled_reads_ratio: 0,
    outbound_stalled_writes_ratio: 0.12,
    outbound_stalled_reads_events_total: 0n,
    outbound_stalled_writes_events_total: 4n,
    effective_bit_error_ratio: 15e-255,
    fber_ratio: 4e-9,
  })
  assert.equal(reasonOf('link_generation'), undefined)
})

for (const [fact, fields] of [
  ['pci_power', ['power_limit_watts']],
  ['pci_peer', ['link_peer_generation_max']],
  ['pci_overflow', ['overflow_packets_total', 'overflow_marked_packets_total']],
  ['pci_stalled', ['outbound_stalled_writes_ratio', 'outbound_stalled_writes_events_total']],
  ['pci_fec', ['fec_correctable_errors_total', 'fec_uncorrectable_errors_total']],
  ['pci_fber', ['fber_ratio']],
  ['pci_management', ['link_generation', 'link_width_lanes', 'physical_functions']],
  ['pci_counters', ['rx_errors_total', 'outbound_stalled_writes_ratio']],
] as const) {
  test(`a device without ${fact} has no 0 in its place`, NEEDS, async (t) => {
    const { link, reasonOf } = bringUp(t, { facts: { [fact]: 0 } })
    const record = await link()
    for (const field of fields) assert.deepEqual([record[field], reasonOf(field)], [undefined, 'unsupported'], field)
    assert.equal(record.place, '0.0.0')
  })
}

test('a device with nothing of it is refused with the reason', NEEDS, async (t) => {
  const { tested } = bringUp(t, { facts: { pci_management: 0, pci_counters: 0, pci_buckets: 0 } })
  await tested.source.sample()
  await assert.rejects(
    tested.source.sample(),
    /doca_telemetry_pci_cap_management_info_is_supported answers NOT_SUPPORTED/,
  )
})

test('the link of the option is read; another place is absent with advice', NEEDS, async (t) => {
  const facts = { pci_depth: 1, pci_index: 2, pci_node: 3 }
  const { link } = bringUp(t, { facts }, { link: '1.2.3' })
  assert.deepEqual([(await link()).place, (await link()).link_generation], ['1.2.3', 5])
  const other = bringUp(t, { facts })
  assert.equal((await other.link()).link_generation, undefined)
  assert.equal(other.reasonOf('link_generation'), 'unsupported')
})

test('counters of 32 bits are widened', NEEDS, async (t) => {
  const { link, double } = bringUp(t, {
    structures: { pci_perf_counters_1: { l0_to_recovery: 2 ** 32 - 1 } },
    grows: { pci_perf_counters_1: { l0_to_recovery: 10 } },
  })
  await link()
  double.setElapsed(1_000_000_000n)
  assert.equal((await link()).l0_to_recovery_total, BigInt(2 ** 32 + 9))
})

test(
  'buckets of equal width are added up to buckets that double; other buckets are another series',
  NEEDS,
  async (t) => {
    const { latency, double } = bringUp(t, { bins: [1, 2, 3, 4, 5, 6], facts: { pci_buckets: 6, pci_bucket_ns: 100 } })
    double.setElapsed(1_000_000_000n)
    assert.deepEqual(await latency(), { edges: [1e-7, 2e-7, 4e-7], counts: [1n, 2n, 7n, 11n] })
    double.play({ mlx5_0: { bins: [1, 2, 3, 4, 5, 6], facts: { pci_buckets: 2, pci_bucket_ns: 500 } } })
    assert.deepEqual(await latency(), { edges: [5e-7], counts: [1n, 2n] })
  },
)

test('a device without the histogram still has its link', NEEDS, async (t) => {
  const { link, tested } = bringUp(t, { facts: { pci_buckets: 0 } })
  assert.equal((await link()).link_generation, 5)
  assert.equal(tested.absent.get('doca_pci_latency{rdma_device="mlx5_0"}.'), 'unsupported')
})

test('a count of buckets that cannot be is not believed', NEEDS, async (t) => {
  const { double, tested } = bringUp(t)
  double.play({ mlx5_0: {} }, ['claim doca_telemetry_pci_get_latency_histogram_dimensions 100000'])
  await tested.source.sample()
  assert.match(String(tested.thrown[0]), /get_latency_histogram_dimensions answers TOO_BIG/)
})
