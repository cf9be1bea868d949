import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvCell } from './csv.ts'
import { summaryText } from './summary.ts'

test('a text from outside is no formula in a spreadsheet, and still one cell', () => {
  assert.equal(csvCell('=HYPERLINK("http://a","b")'), '"\'=HYPERLINK(""http://a"",""b"")"')
  assert.equal(csvCell('@cmd'), "'@cmd")
  assert.equal(csvCell('=1\n2'), '"\'=1\n2"')
  assert.deepEqual(['eth0', '', '-', '{"a":"=1"}'].map(csvCell), ['eth0', '""', '-', '"{""a"":""=1""}"'])
})

test('numbers of a summary stay numbers, and its texts are no formulas', () => {
  const rows = [
    { source: '+1', gain: -5, list: ['=1'] },
    { source: 'b', gain: -0.5, list: [] },
  ]
  assert.equal(summaryText(rows, 'csv'), "source,gain,list\n'+1,-5,1\nb,-0.5,0\n")
})
