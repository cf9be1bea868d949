import { Backtest } from '@sonde/agent'
import { type ReadFlags, readOptions } from '../read/options.ts'
import { tell } from '../read/output.ts'
import { printRecords } from '../read/print-records.ts'
import { readRulesFile } from '../traceback/rules-file.ts'
import { backtestText } from './backtest-text.ts'

/** The options of `sonde backtest` as they were typed. */
export interface BacktestFlags extends Pick<ReadFlags, 'format' | 'source' | 'label' | 'start' | 'end' | 'store'> {
  readonly rules: string
}

/**
 * `sonde backtest [FILE|DIR…] --rules FILE`: says which events the rules would have had in files of records or a store.
 * Exit code 0, or 1 if a file is unreadable or damaged.
 *
 * @param defaultStore Returns the path of the store if `--store` names none.
 */
export async function runBacktest(
  paths: readonly string[],
  { rules, ...flags }: BacktestFlags,
  defaultStore: () => Promise<string>,
): Promise<number> {
  const { book, warnings } = readRulesFile(rules)
  for (const warning of warnings) tell(`${rules}: ${warning}`)
  const backtest = new Backtest(book)
  const options = { ...readOptions({ format: 'table', ...flags }, true), types: [...backtest.types] }
  const format = {
    records(chosen: Parameters<Backtest['take']>[0]) {
      backtest.take(chosen)
      return ''
    },
    rest: () => backtestText(backtest.report(), options.format),
  }
  return printRecords(paths, flags.store, { options, format, defaultStore, isSum: true })
}
