import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { absenceType } from '@sonde/sdk/internal'
import { needs } from '../../../../../test/debian.ts'
import { DocaDouble } from '../../../../../test/doubles/doca/doca-double.ts'
import { docaTelemetryAdpRetx } from '../doca-telemetry-adp-retx/doca-telemetry-adp-retx.ts'
import { docaAdpRetxType } from '../doca-telemetry-adp-retx/type.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { docaTelemetryDiag } from './doca-telemetry-diag.ts'
import { docaDiagPortType, docaDiagSamplingType } from './type.ts'

const NEEDS = needs('cc')
/** Calls that write to the device, after calls that only read it: each needs more permission. */
const STEPS = ['apply_config', 'apply_counters_list_by_id', 'start'].map((name) => `doca_telemetry_diag_${name}`)
const QUERY = 'doca_telemetry_diag_query_counters'
const ABSENT = `${docaDiagSamplingType.name}{rdma_device="mlx5_0"}.`

/** The source, and another source of the same library. They are closed before their double ends. */
function bringUp(t: TestContext) {
  const ends: (() => unknown)[] = []
  const double = new DocaDouble({ after: (end) => void ends.push(end) })
  const paths = { ...new TestNode(t).paths, doca_library: double.folder }
  const diag = new TestedSource(docaTelemetryDiag, paths, { counters: ['port_rx_bytes'], accept_taint: true })
  const beside = new TestedSource(docaTelemetryAdpRetx, paths)
  t.after(async () => {
    for (const { source } of [diag, beside]) await source.close()
    for (const end of ends) await end()
  })
  return { double, diag, beside }
}

test('permission that is refused half way is a reason with advice, and costs no other source', NEEDS, async (t) => {
  const { double, diag, beside } = bringUp(t)
  /** Reads both sources once. Returns the number of records of each, and the told reasons. */
  const sample = async () => {
    await diag.source.sample().catch(() => undefined)
    const taken = diag.take()
    const rows = taken.filter(({ type }) => type === docaDiagPortType).length
    const reasons = taken.filter(({ type }) => type === absenceType).map(({ record }) => String(record.reason))
    return { rows, others: (await beside.sampleOf(docaAdpRetxType)).length, reasons }
  }
  for (const step of STEPS) {
    for (const code of ['NOT_PERMITTED', 'OPERATING_SYSTEM']) {
      double.play({ mlx5_0: {} }, [`error ${step} DOCA_ERROR_${code}`])
      const { rows, others, reasons } = await sample()
      assert.deepEqual([rows, others, diag.absent.get(ABSENT)], [0, 1, 'denied'], `${step} ${code}`)
      const advice = new RegExp(`^mlx5_0: ${step} answers ${code}, no permission to .*: run as root`)
      assert.match(reasons.join(), advice)
      assert.equal(double.total('contexts'), 1, 'the context of the other source alone is left')
      double.play({ mlx5_0: {} })
      await sample()
      assert.deepEqual([(await sample()).rows, diag.absent.get(ABSENT)], [1, undefined], `after ${step}`)
      await diag.source.close()
    }
  }
})

test(
  'permission that is refused between two samples ends the series, with the reason, until it is given',
  NEEDS,
  async (t) => {
    const { double, diag } = bringUp(t)
    double.play({ mlx5_0: {} })
    const rows = async () => {
      await diag.source.sample().catch(() => undefined)
      return diag.take()
    }
    const count = (taken: Awaited<ReturnType<typeof rows>>) =>
      taken.filter(({ type }) => type === docaDiagPortType).length
    await rows()
    assert.equal(count(await rows()), 1)
    double.play({ mlx5_0: {} }, [`error ${QUERY} DOCA_ERROR_NOT_PERMITTED`])
    const refused = [await rows(), await rows(), await rows()].flat()
    assert.equal(count(refused), 0)
    const gone = refused.filter(({ type, record }) => type === absenceType && record.code === 'gone')
    assert.ok(gone.some(({ record }) => record.type === docaDiagPortType.name))
    assert.match(
      String(gone[0]?.record.reason),
      new RegExp(`${QUERY} answers NOT_PERMITTED, no permission .*: run as root`),
    )
    double.play({ mlx5_0: {} })
    for (let look = 0; look < 2; look++) await rows()
    assert.equal(count(await rows()), 1)
  },
)
