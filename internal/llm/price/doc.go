// Package price owns what model calls cost: a dated table of list prices, which
// a file of the user's can add to and correct ([Open]), and the arithmetic from
// tokens to US dollars ([Price.Cost]). It refuses to guess: a model that is not
// in the table has no price.
//
// The prices are those the providers publish for ordinary calls. What an
// account pays beside them (batches, priority, discounts, taxes) is not known
// here, so costs are estimates for budgets and reports, and no bill.
package price
