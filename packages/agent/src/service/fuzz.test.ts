import assert from 'node:assert/strict'
import { anyType } from '../../../sdk/test/any-type.ts'
import { property } from '../../../sdk/test/helper.ts'
import { fuzzPages } from '../../test/fuzz-pages.ts'

property(
  'pages of anything are taken or refused, and nothing of it upsets the views: 50 000 pages',
  100,
  async (random) => {
    const taken = await fuzzPages(random, anyType(random), 500)
    assert.ok(taken > 100, `${taken} pages were taken`)
  },
)
