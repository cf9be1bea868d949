/** Explanations and advice for the reasons for which a source drops records. */
const CAUSES: Readonly<Record<string, string>> = {
  symbol_limit: 'a label had a new text and the symbol table was full; raise symbolLimit, or use fewer label values',
  metric_series_limit: 'a metric had as many series as its seriesLimit; raise it, or release series',
  absence_limit: 'a source keeps 100 000 absent values at most; report fewer series',
  metric_no_room: 'no room for a new label text or row; raise symbolLimit or rowLimit',
}

/** The cause of a reason in words; empty if none is known. */
export function causeOf(reason: string): string {
  return (Object.hasOwn(CAUSES, reason) ? CAUSES[reason] : undefined) ?? ''
}
