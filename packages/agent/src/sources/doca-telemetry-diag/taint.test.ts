import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as v from 'valibot'
import { docaTelemetryDiag } from './doca-telemetry-diag.ts'

test('the source is denied until somebody accepts the taint of the kernel, and then warns of it', (t) => {
  const library = mkdtempSync(join(tmpdir(), 'sonde-doca-'))
  t.after(() => rmSync(library, { recursive: true }))
  const paths = { procfs: '/proc', sysfs: '/sys', doca_library: library }
  const { look, warning, options } = docaTelemetryDiag
  const optionsOf = (given: object) => v.parse(options, given)
  assert.equal(look?.(optionsOf({}), paths).state, 'absent', 'without a library the taint is no question')
  for (const name of ['libdoca_telemetry.so.2', 'libdoca_common.so.2']) writeFileSync(join(library, name), '')
  const refused = look?.(optionsOf({}), paths)
  assert.equal(refused?.state, 'denied')
  assert.match(JSON.stringify(refused), /taints the kernel.*accept_taint: true.*ENABLE_DIAG=true/)
  assert.equal(warning?.(optionsOf({})), '')
  const accepted = optionsOf({ accept_taint: true })
  assert.equal(look?.(accepted, paths).state, 'present')
  assert.match(warning?.(accepted) ?? '', /taints the kernel/)
})
