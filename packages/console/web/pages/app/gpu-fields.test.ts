import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GPU_FIELDS } from '@sonde/sdk/api'
import { podMetric } from '../../../server/apps/fields.ts'
import { FIELD_WORDS } from './gpu-fields.ts'

test('the page draws the metrics that the routes of apps ask for, all nine in their order', () => {
  assert.deepEqual(
    FIELD_WORDS.map((words) => [words.field, words.podMetric]),
    GPU_FIELDS.map((field) => [field, podMetric(field)]),
  )
})
