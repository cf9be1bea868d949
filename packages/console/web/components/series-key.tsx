import { DASHES, MARKERS, type SeriesSlot } from './palette.ts'

const SHAPES = {
  circle: <circle cx="12" cy="6" r="3" />,
  square: <rect x="9.3" y="3.3" width="5.4" height="5.4" />,
  triangle: <path d="M12 2.6 15.3 9H8.7Z" />,
  diamond: <path d="M12 2.1 15.9 6 12 9.9 8.1 6Z" />,
  cross: <path d="m9 3 6 6m0-6-6 6" />,
} as const

/** The dash and marker of a series, as legends show it; the marker alone where room is short. */
export function SeriesKey({ slot, markerOnly = false }: { readonly slot: SeriesSlot; readonly markerOnly?: boolean }) {
  const marker = MARKERS[slot]
  const isOpen = marker.startsWith('open-')
  const shape = SHAPES[marker.replace('open-', '') as keyof typeof SHAPES]
  return (
    <svg
      className={`series-key s${slot}`}
      viewBox={markerOnly ? '7 0 10 12' : '0 0 24 12'}
      width={markerOnly ? 10 : 24}
      height="12"
      aria-hidden="true"
    >
      {!markerOnly && (
        <path className="series-key-line" d="M0 6h24" strokeDasharray={DASHES[slot].join(' ') || undefined} />
      )}
      <g className={isOpen || marker === 'cross' ? 'series-key-open' : 'series-key-full'}>{shape}</g>
    </svg>
  )
}
