// Package words owns how text becomes the words that searching compares: where
// a word begins and ends in any script, folding of case and of ways to write a
// character, a light English stem, and which English words carry no meaning of
// their own. It refuses to know what
// the words are counted or weighed for.
//
// A word is a run of letters, marks and digits. Within digits, a comma is
// dropped and a full stop is kept, so that 10,000 is 10000 and 4.2 is one
// word. Scripts that write without spaces (Han, Kana, Hangul, Thai, Lao, Khmer,
// Burmese) become overlapping pairs of characters.
//
// The stem joins inflections, not families: refund, refunds, refunded and
// refundable meet, as do cancel, cancelled and cancellation. It touches words
// of a to z only and is not meant to be read.
//
// [Version] changes when the words of any text change; what is stored by words
// is built anew then.
package words
