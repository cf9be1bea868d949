import { csv } from './csv.ts'
import type { ReadFormat } from './format.ts'
import { jsonl } from './jsonl.ts'
import type { ReadOptions } from './options.ts'
import { stats } from './stats.ts'
import { table } from './table.ts'

const LINE_CHARACTERS_DEFAULT = 120

/** The format that the options choose. */
export function formatOf({ task, format, int64 }: ReadOptions): ReadFormat {
  if (task === 'stats') return stats(format)
  if (format === 'csv') return csv()
  return format === 'jsonl' ? jsonl(int64) : table(() => process.stdout.columns || LINE_CHARACTERS_DEFAULT)
}
