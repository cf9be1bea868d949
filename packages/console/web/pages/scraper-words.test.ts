import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AppState, ScraperState } from '@sonde/sdk/api'
import { scraperMark, telemetryMark } from './scraper-words.ts'

const wordOf = (state: ScraperState, ofApp: AppState, isConfigured = true) => {
  const scraper = { name: 'dcgm_exporter', state, detail: '', hasAnswered: true }
  const scrapers = isConfigured ? [scraper] : []
  return telemetryMark({ isOn: true, state, summary: '', locked: '', scrapers }, ofApp).word
}

test('the badge has the state of the scraper, and waits for a node that has GPUs', () => {
  assert.equal(wordOf('enabled', 'ready'), 'Enabled')
  assert.equal(wordOf('enabled', 'no_node'), 'Enabled, waiting for a GPU node')
  assert.equal(wordOf('disabled', 'disabled'), 'Disabled')
  assert.equal(wordOf('enabling', 'ready'), 'Enabling…')
  assert.equal(wordOf('error', 'late'), 'Error')
})

test('without a scraper the other sources of GPUs decide', () => {
  assert.equal(wordOf('error', 'ready', false), 'Enabled')
  assert.equal(wordOf('error', 'no_node', false), 'Enabled, waiting for a GPU node')
  assert.equal(wordOf('error', 'no_source', false), 'Disabled')
  assert.equal(wordOf('error', 'disabled', false), 'Error')
})

test('a machine without an exporter is no error', () => {
  const answer = { isOn: true, state: 'error', summary: '', locked: '', scrapers: [] } as const
  assert.deepEqual(scraperMark(answer), { tone: 'absent', word: 'No exporter' })
  const scraper = { name: 'dcgm_exporter', state: 'error', detail: '', hasAnswered: false } as const
  assert.equal(scraperMark({ ...answer, scrapers: [scraper] }).word, 'Error')
})
